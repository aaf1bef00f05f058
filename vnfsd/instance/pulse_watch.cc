#include "vnfsd/instance/pulse_watch.h"

#include <utility>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {

PulseWatch::Action PulseWatch::look(std::int64_t now_ns, const fs::Pulse& pulse) {
  const std::int64_t before_ns = std::exchange(looked_ns_, now_ns);
  const bool nobody_looked = before_ns == 0 || now_ns - before_ns > kPulseGapMs * 1'000'000;
  if (nobody_looked || pulse.beat_ns != beat_ns_) {
    beat_ns_ = pulse.beat_ns;
    since_ns_ = now_ns;
  }
  if (ending_ || now_ns - since_ns_ >= kStillMs * 1'000'000) return Action::kEnd;
  const bool hide = !hidden_ && pulse.open_until_ns < now_ns - kHideAfterMs * 1'000'000;
  const bool show = hidden_ && pulse.open_until_ns > now_ns;
  if (hide || show) hidden_ = hide;
  return hide ? Action::kHide : show ? Action::kShow : Action::kGoOn;
}

}  // namespace symnas::vnfsd::instance
