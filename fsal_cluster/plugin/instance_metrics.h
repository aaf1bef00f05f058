// What this instance has counted, for vnfsd's page of metrics (docs/formats/instance_control.md).
// Thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace symnas::plugin {

nlohmann::json instance_metrics();

}  // namespace symnas::plugin
