#include "vnfsd/daemon/detection/clock_keeper.h"

#include <cstdlib>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/daemon/detection/limits.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/instance_file.h"

namespace symnas::vnfsd::daemon {

ClockKeeper::ClockKeeper(const ThisHead& head, EventWriter& events)
    : head_(head), events_(events), path_(instance::clock_file(head.config)) {}

void ClockKeeper::look(const std::optional<ha::ClockSpread::Sight>& sight) {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  if (now_ms - looked_ms_ < ha::kClockSayMs) return;
  looked_ms_ = now_ms;
  if (heard_ms_ == 0) heard_ms_ = now_ms;
  if (!sight) {
    // Nobody is left to ask: this head's clock is as good as any.
    if (now_ms - heard_ms_ >= kClockAloneMs) note(head_.clock.wall_ns() - head_.clock.mono_ns());
    return;
  }
  heard_ms_ = now_ms;
  note(sight->base_ns);
  tell(sight->own_ahead_ns);
}

void ClockKeeper::note(std::int64_t base_ns) {
  if (!written_ns_ || std::abs(base_ns - *written_ns_) >= kClockStepNs) write(base_ns);
}

void ClockKeeper::write(std::int64_t base_ns) {
  const std::string text = fmt::format("{} {}\n", base_ns, head_.incarnation);
  const Status written = instance::write_file_atomically(path_, text, 0600);
  if (!written) {
    log::warn("{}: {}", path_, written.error().message);
    return;
  }
  written_ns_ = base_ns;
}

void ClockKeeper::tell(std::int64_t ahead_ns) {
  const std::int64_t off_ns = std::abs(ahead_ns);
  const std::string& name = head_.config.head_name;
  if (!is_off_ && off_ns > kClockOffNs) {
    is_off_ = true;
    events_.tell(
        event::kClockOff,
        fmt::format("head {}: its clock is {:.1f} s {} the others', which times of files go "
                    "by (mend its time synchronisation)",
                    name, static_cast<double>(off_ns) / 1e9, ahead_ns > 0 ? "ahead of" : "behind"));
  } else if (is_off_ && off_ns < kClockBackNs) {
    is_off_ = false;
    events_.tell(event::kClockBack, fmt::format("head {}: its clock is with the others'", name));
  }
}

}  // namespace symnas::vnfsd::daemon
