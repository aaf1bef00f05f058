// The one mapping from our errors to ganesha's.
#pragma once

#include "common/base/result.h"
#include "fsal_cluster/plugin/ganesha.h"

namespace symnas::plugin {

inline fsal_status_t ok_status() { return fsalstat(ERR_FSAL_NO_ERROR, 0); }

// kEnded and kShutdown never reach a client: the instance holds such a request until it exits
// (INV-8). So they have no mapping of their own; they would become DELAY.
fsal_status_t to_fsal(const Error& error);

}  // namespace symnas::plugin
