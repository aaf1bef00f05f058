// PulseWatch: what the pulse of a running instance (fsal_cluster/pulse) says. Pure; the caller
// brings pulse and time. Thread-compatible.
//
// Invariant: an instance is never blamed for time in which nobody looked.
#pragma once

#include <cstdint>

#include "fsal_cluster/pulse/pulse.h"

namespace symnas::vnfsd::instance {

class PulseWatch {
 public:
  enum class Verdict {
    kProved,    // the instance may answer
    kDoubt,     // its proof has just become too old
    kUnproved,  // the same, for kHideAfterMs (limits.h): it will hardly be back at once
    kStill,     // the instance stands still
  };
  // now_ns: CLOCK_MONOTONIC.
  Verdict look(std::int64_t now_ns, const fs::Pulse& pulse);

 private:
  std::int64_t looked_ns_ = 0;  // 0: not yet
  std::int64_t beat_ns_ = 0;    // the last beat seen
  std::int64_t since_ns_ = 0;   // when that beat was seen first
};

}  // namespace symnas::vnfsd::instance
