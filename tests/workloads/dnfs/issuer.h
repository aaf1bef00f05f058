// Issuer: one thread of a job. It says which operation comes next, fills what is written, judges
// what is read, and counts. It has no clock and no socket: times are given to it. It is no thread
// of the system: one loop feeds all issuers. Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/workloads/dnfs/file_blocks.h"
#include "tests/workloads/dnfs/job.h"
#include "tests/workloads/dnfs/latency.h"

namespace symnas::dnfs {

// How often a block that is not whole is read again before it counts as corrupt: a write of another
// process may have been under way, each time.
inline constexpr int kReadAgainMax = 5;
// So many findings and errors are kept as texts; all are counted.
inline constexpr std::size_t kKeptTexts = 20;

struct Operation {
  std::size_t slot = 0;
  bool write = false;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::span<const char> data;  // of a write; valid until finish()
};

class Issuer {
 public:
  struct Second {
    std::uint64_t ops = 0, bytes = 0, max_us = 0;
  };
  struct Counters {
    std::uint64_t ops = 0, bytes = 0, errors = 0, corrupt = 0, read_again = 0;
    Latency latency;
    std::map<std::int64_t, Second> seconds;  // by the time of day
    std::vector<std::string> texts;          // the first errors and findings
  };

  // `blocks` stays valid and belongs to all issuers of its file.
  Issuer(const ThreadJob& job, FileBlocks& blocks);

  const ThreadJob& job() const { return job_; }
  const Counters& counters() const { return counters_; }

  // The next operation that may begin, if any may.
  std::optional<Operation> next(std::int64_t now_us);
  // When next() is worth a call, if nothing finishes before.
  std::int64_t wake_us() const { return wake_us_; }
  // What a read brought. Its operation is finished afterwards.
  void take(std::size_t slot, std::span<const char> data);
  // `error` empty: it was carried out. Returns the operation again if it is to be repeated.
  std::optional<Operation> finish(std::size_t slot, std::int64_t now_us, std::int64_t epoch_s,
                                  const std::string& error);
  // Whether all that it was to do is done; only of those that end by themselves.
  bool over() const;
  std::size_t outstanding() const { return outstanding_; }
  std::int64_t begun_us(std::size_t slot) const { return slots_[slot].begun_us; }

 private:
  struct Slot {
    bool busy = false;
    bool write = false;
    std::uint64_t block = 0;
    std::int64_t begun_us = 0;
    std::int64_t ready_us = 0;
    int read_again = 0;
    bool torn = false;
    std::uint64_t moved = 0;  // bytes
    std::vector<char> data;
    std::vector<std::uint32_t> floors;
  };

  std::optional<std::uint64_t> choose(bool write);
  std::uint64_t draw();
  std::optional<std::uint64_t> in_order(std::uint64_t first, std::uint64_t step,
                                        std::uint64_t count);
  Operation begin(std::size_t slot, bool write, std::uint64_t block, std::int64_t now_us);
  Operation operation(std::size_t slot);
  std::uint64_t units_each() const { return job_.block_bytes / blocks_.unit_bytes(); }
  void note(const std::string& text);

  ThreadJob job_;
  FileBlocks& blocks_;
  Counters counters_;
  std::vector<Slot> slots_;
  std::size_t outstanding_ = 0;
  std::uint64_t cursor_ = 0;
  std::uint64_t random_;
  std::int64_t wake_us_ = 0;
  double allowed_us_ = 0;  // by the rate: when the next one may begin
};

}  // namespace symnas::dnfs
