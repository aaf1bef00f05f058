// FileBlocks: what this process knows of each block of a file, and what a block that was read must
// therefore be. BlockStates: the same for all files of a job, with the generations of acknowledged
// blocks in a state file, so that the next run goes on and verifies them.
//
// A "unit" is the smallest block that a thread of the job writes; each unit carries a header, and a
// larger block is several units. Thread-compatible.
//
// The state file is mapped: a number becomes larger only when a write was acknowledged (or read
// back), by one aligned store, so whenever the process or the host ends, each number in it is one
// that was true. A thread writes the pages to the disk every second.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "tests/workloads/dnfs/block.h"
#include "tests/workloads/dnfs/job.h"

namespace symnas::dnfs {

// What is wrong with a unit that was read.
enum class Verdict {
  kRight,
  kTorn,       // not whole; right if a write of it was under way meanwhile: read it again
  kLost,       // zeroes or an old generation: an acknowledged write is missing
  kMisplaced,  // a block of another file or place
  kForeign,    // of another process, where only this one writes
  kFuture,     // a generation that was never written
};
const char* to_string(Verdict verdict);

class FileBlocks {
 public:
  // `acknowledged`: one number a unit, 0 = never; stays valid.
  FileBlocks(std::string path, std::uint32_t unit_bytes, std::uint64_t run,
             std::span<std::uint32_t> acknowledged);

  const std::string& path() const { return path_; }
  std::uint32_t unit_bytes() const { return unit_bytes_; }
  std::uint64_t units() const { return acknowledged_.size(); }

  // A write of these units begins or ends. While one is under way no other may begin.
  bool writing(std::uint64_t unit, std::uint64_t count) const;
  // Fills `data` with the next generations. REQUIRES: !writing().
  void begin_write(std::uint64_t unit, std::span<char> data, std::uint32_t seed);
  // `acknowledged` false: nobody knows whether it was carried out.
  void end_write(std::uint64_t unit, std::uint64_t count, bool acknowledged);

  // The least generation that a read which begins now may return.
  std::uint32_t floor(std::uint64_t unit) const { return acknowledged_[unit]; }
  // Judges a unit that was read, and remembers its generation. `floor`: when the read began.
  Verdict judge(std::uint64_t unit, std::span<const char> data, std::uint32_t floor);

 private:
  std::string path_;
  std::uint64_t id_;
  std::uint32_t unit_bytes_;
  std::uint64_t run_;
  std::span<std::uint32_t> acknowledged_;
  std::vector<std::uint32_t> issued_;  // 0: not yet by this process
  std::vector<bool> writing_;
};

class BlockStates {
 public:
  // For the files of `job`. `state_file` "": the numbers are forgotten at the end.
  // Errors: kInvalidArgument: no multiple of the smallest block, or the state file is of another
  // job; kIo: it cannot be written.
  static Result<std::unique_ptr<BlockStates>> open(const Job& job, const std::string& state_file);
  ~BlockStates();
  BlockStates(const BlockStates&) = delete;
  BlockStates& operator=(const BlockStates&) = delete;

  FileBlocks& file(std::size_t index) { return files_[index]; }
  std::size_t index_of(const std::string& path) const;
  std::size_t size() const { return files_.size(); }
  // Whether any unit of the file was acknowledged by an earlier run.
  bool has_past(std::size_t index) const;

 private:
  BlockStates() = default;
  void flush_each_second(const std::stop_token& stop) const;

  std::span<char> mapped_;
  std::vector<std::uint32_t> memory_;
  std::vector<FileBlocks> files_;
  std::vector<bool> past_;
  std::jthread flusher_;
};

}  // namespace symnas::dnfs
