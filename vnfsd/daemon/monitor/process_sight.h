// This process as proc(5) has it, under the names that all Prometheus exporters use. Thread-safe.
#pragma once

#include <optional>

#include "vnfsd/metrics/sights.h"

namespace symnas::vnfsd::daemon {

// nullopt: /proc cannot be read.
std::optional<metrics::ProcessSight> look_at_process();

}  // namespace symnas::vnfsd::daemon
