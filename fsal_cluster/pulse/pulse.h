// Pulse: a page of memory that an instance writes all the time and its supervisor reads
// (docs/formats/instance_pulse.md). The page belongs to the process: it is a memory file without a
// path, which ends with the process and is found among its descriptors.
//
// Thread class: thread-safe; neither side ever waits for the other.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace symnas::fs {

// Pulse::open_until_ns of an instance that has mounted nothing: it has no gate that could close.
inline constexpr std::int64_t kAlwaysOpen = std::numeric_limits<std::int64_t>::max();

struct Pulse {
  std::int64_t beat_ns = 0;        // CLOCK_MONOTONIC: when the page was written
  std::int64_t open_until_ns = 0;  // the same: when the first gate closes without a further proof
  // CLOCK_MONOTONIC; 0: not yet. When the instance began the first request of a client, and when it
  // last granted a reclaim.
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
  // Opens the page of the process `pid`. Errors: kNotFound (the process is gone, has not written a
  // page yet, or is of an earlier version without one), kCorrupt (the page has another version),
  // kIo.
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
