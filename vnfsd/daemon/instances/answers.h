// AnswerWatch: whether the workers of an instance are dead, from whether it answers NULL calls of
// its own head. Pure; thread-compatible.
//
// Invariant: silence counts only while the instance could have answered (its gate is open) and was
// asked again and again.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace symnas::vnfsd::daemon {

class AnswerWatch {
 public:
  // kHeld: it has not answered, and may not (its gate is shut).
  enum class Answer { kGiven, kMissing, kHeld };
  // An instance of that epoch was asked. Answers for how long it has been silent when that means
  // that its workers are dead, in ms, else 0.
  std::int64_t asked(std::int64_t now_ms, Epoch epoch, Answer answer);

 private:
  Epoch epoch_;
  int missing_ = 0;  // in a row
  std::int64_t since_ms_ = 0;
  std::int64_t asked_ms_ = 0;
};

}  // namespace symnas::vnfsd::daemon
