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
  }
  if (now_ns - since_ns_ >= kStillMs * 1'000'000) return Verdict::kStill;
  if (pulse.open_until_ns > now_ns) return Verdict::kProved;
  const bool lasts = pulse.open_until_ns < now_ns - kHideAfterMs * 1'000'000;
  return lasts ? Verdict::kUnproved : Verdict::kDoubt;
}

}  // namespace symnas::vnfsd::instance
