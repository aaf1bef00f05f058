// WorkerSilence: decides whether the workers of an instance are dead, by how long the instance has
// left the NULL calls of its own head unanswered. Pure; thread-compatible.
//
// Invariant: silence counts only while the instance could have answered (its gate is open) and was
// asked again and again.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace symnas::vnfsd::daemon {

class WorkerSilence {
 public:
  // kHeld: the instance has not answered, and may not (its gate is shut).
  enum class NullReply { kGiven, kMissing, kHeld };
  // The instance with that epoch was asked. Returns for how long the instance has been silent, in
  // ms, if that means that its workers are dead; else 0.
  std::int64_t asked(std::int64_t now_ms, Epoch epoch, NullReply answer);

 private:
  Epoch epoch_;
  int missing_ = 0;  // in a row
  std::int64_t since_ms_ = 0;
  std::int64_t asked_ms_ = 0;
};

}  // namespace symnas::vnfsd::daemon
