// What clients ask of this instance, counted for vnfsd (fsal_cluster/load). Thread-safe functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace symnas::plugin {

// From now on every operation is counted.
void count_load();
// Everything that was counted: docs/formats/instance_load.md.
nlohmann::json load_so_far();

}  // namespace symnas::plugin
