// The FSAL module CLUSTER: registration and configuration.
#pragma once

#include "fsal_cluster/plugin/ganesha.h"

namespace symnas::plugin {

// Called by ganesha for every EXPORT with FSAL { Name = CLUSTER; }.
fsal_status_t create_export(fsal_module* module, void* parse_node, config_error_type* errors,
                            const fsal_up_vector* up_ops);

// Called by ganesha when the block of a served export has changed: filesystem and path of ours must
// not change.
fsal_status_t check_export_update(fsal_module* module, void* parse_node, config_error_type* errors,
                                  fsal_export* original, fsal_module* updated_super);

}  // namespace symnas::plugin
