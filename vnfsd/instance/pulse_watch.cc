#include "vnfsd/instance/pulse_watch.h"

#include <utility>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {

PulseWatch::Verdict PulseWatch::look(std::int64_t now_ns, const fs::Pulse& pulse) {
  const std::int64_t before_ns = std::exchange(looked_ns_, now_ns);
  const bool nobody_looked = before_ns == 0 || now_ns - before_ns > kPulseGapMs * 1'000'000;
  if (nobody_looked || pulse.beat_ns != beat_ns_) {
    beat_ns_ = pulse.beat_ns;
    since_ns_ = now_ns;
    ending_ = false;
  }
  const bool still = now_ns - since_ns_ >= kStillMs * 1'000'000;
  ending_ = ending_ || still;
  // One that is killed may be long in dying (I/O that hangs): its VIPs are not to wait for that.
  const bool shut = pulse.open_until_ns < now_ns - kHideAfterMs * 1'000'000;
  if (!hidden_ && (ending_ || shut)) {
    hidden_ = true;
    return Verdict::kHide;
  }
  if (still) {
    since_ns_ = now_ns;
    return Verdict::kEnd;
  }
  if (!hidden_ || ending_ || pulse.open_until_ns <= now_ns) return Verdict::kGoOn;
  hidden_ = false;
  return Verdict::kShow;
}

}  // namespace symnas::vnfsd::instance
