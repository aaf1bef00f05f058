#include "fsal_cluster/plugin/beat.h"

#include <chrono>
#include <utility>

#include "common/base/log.h"
#include "common/env/clock.h"
#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {

Beat::Beat(std::function<fs::Pulse()> look) : look_(std::move(look)) {
  auto page = fs::PulseWriter::create();
  if (!page) {
    log::error("{}: vnfsd cannot see whether this instance is healthy", page.error().message);
    return;
  }
  page_.emplace(std::move(*page));
  loop_.start(0, [this] { return beat(); });
}

std::int64_t Beat::beat() {
  const std::int64_t now_ns = env::system_clock().mono_ns();
  fs::Pulse pulse = look_();
  pulse.beat_ns = now_ns;
  page_->write(pulse);
  return (pulse.open_until_ns > now_ns ? kBeatMs : kShutBeatMs) * 1'000'000;
}

}  // namespace symnas::plugin
