// A job: which threads do which I/O on which files. Pure: parsed from JSON, every value checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace symnas::dnfs {

enum class Mode {
  kRead,      // random blocks
  kWrite,     // random blocks
  kMix,       // both, by read_percent
  kSeqRead,   // in order, again from the start
  kSeqWrite,  // in order, again from the start
  kCreate,    // in order, once: the thread ends
  kVerify,    // in order, once, reading: what a state file asks for
};

struct ThreadJob {
  std::string name;
  std::string file;
  Mode mode = Mode::kRead;
  std::uint32_t block_bytes = 8192;
  int depth = 1;
  int read_percent = 60;
  std::uint64_t size_bytes = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t rate_bytes_s = 0;  // 0: as fast as it goes
  std::int64_t think_ms = 0;       // of one place of the depth, after each operation
  std::uint32_t seed = 1;
  bool verify = true;
  // Of the blocks (offset / block_bytes) this thread writes those with number % writers == writer.
  std::uint32_t writers = 1;
  std::uint32_t writer = 0;

  bool writes() const {
    return mode != Mode::kRead && mode != Mode::kSeqRead && mode != Mode::kVerify;
  }
  bool ends_by_itself() const { return mode == Mode::kCreate || mode == Mode::kVerify; }
  std::uint64_t blocks() const { return size_bytes / block_bytes; }
};

struct Job {
  std::vector<ThreadJob> threads;
  std::int64_t seconds = 10;
};

// `default_file`: of threads that name none. Errors: kInvalidArgument, with the thread and the
// member that is wrong.
Result<Job> parse_job(std::string_view text, const std::string& default_file);

}  // namespace symnas::dnfs
