#include "vnfsd/daemon/instances/worker_silence.h"

#include <utility>

#include "vnfsd/daemon/instances/limits.h"

namespace symnas::vnfsd::daemon {

std::int64_t WorkerSilence::asked(std::int64_t now_ms, Epoch epoch, NullReply answer) {
  const bool same = std::exchange(epoch_, epoch) == epoch;
  const bool gap = now_ms - std::exchange(asked_ms_, now_ms) > kAskGapMs;
  if (!same || gap || answer != NullReply::kMissing) missing_ = 0;
  if (answer != NullReply::kMissing) return 0;
  if (missing_++ == 0) since_ms_ = now_ms;
  const std::int64_t silent_ms = now_ms - since_ms_;
  return missing_ >= kUnansweredMin && silent_ms >= kDeadWorkersMs ? silent_ms : 0;
}

}  // namespace symnas::vnfsd::daemon
