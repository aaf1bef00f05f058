// Pulse: a page of memory that an instance writes all the time and its supervisor reads
// (docs/formats/instance_pulse.md). It belongs to the process: a memory file that has no path and
// ends with it, found among its descriptors.
//
// Thread class: thread-safe; neither side ever waits for the other.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace symnas::fs {

// No gate that could close: nothing is mounted.
inline constexpr std::int64_t kAlwaysOpen = std::numeric_limits<std::int64_t>::max();

struct Pulse {
  std::int64_t beat_ns = 0;        // CLOCK_MONOTONIC: when it was written
  std::int64_t open_until_ns = 0;  // the same: when the first of its gates closes without a proof
  // The same; 0: not yet. When it began the first request of a client, and granted a reclaim last.
  std::int64_t first_request_ns = 0;
  std::int64_t last_reclaim_ns = 0;
};

struct PulsePage;  // pulse.cc

class PulseWriter {
 public:
  // Errors: kIo (memory).
  static Result<PulseWriter> create();
  void write(const Pulse& pulse);

 private:
  struct Unmap {
    void operator()(PulsePage* page) const;
  };
  PulseWriter(UniqueFd fd, PulsePage* page) : fd_(std::move(fd)), page_(page) {}

  UniqueFd fd_;  // its name is what a reader looks for
  std::unique_ptr<PulsePage, Unmap> page_;
};

class PulseReader {
 public:
  // That of the process `pid`. Errors: kNotFound (it has none: it is gone, has not come so far, or
  // is of an earlier version), kCorrupt (it is of another version), kIo.
  static Result<PulseReader> open(int pid);
  Pulse read() const;

 private:
  struct Unmap {
    void operator()(const PulsePage* page) const;
  };
  explicit PulseReader(const PulsePage* page) : page_(page) {}

  std::unique_ptr<const PulsePage, Unmap> page_;
};

}  // namespace symnas::fs
