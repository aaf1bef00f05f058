// Beat: shows vnfsd that this instance runs and until when it may answer (fsal_cluster/pulse).
//
// Thread class: owns one thread, which waits for nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "common/base/loop.h"
#include "fsal_cluster/pulse/pulse.h"

namespace symnas::plugin {

class Beat {
 public:
  // `look` returns what to show (without Pulse::beat_ns). It is called on the thread and must not
  // block.
  explicit Beat(std::function<fs::Pulse()> look);
  Beat(const Beat&) = delete;
  Beat& operator=(const Beat&) = delete;

 private:
  std::int64_t beat();

  const std::function<fs::Pulse()> look_;
  std::optional<fs::PulseWriter> page_;
  Loop loop_;  // last: it uses all else
};

}  // namespace symnas::plugin
