// Owners and ranges of locks, from ganesha's terms into the core's and back. Pure functions.
#pragma once

#include <string>

#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::plugin {

// An identity that outlives this process.
fs::LockOwner identity(const state_owner_t* owner);
// LockOwner::client of a client of NFSv4.
std::string identity(const nfs_client_id_t& client);
fs::LockRange range_of(const fsal_lock_param_t& lock);
fsal_lock_param_t lock_param_of(const fs::LockRange& range);

}  // namespace symnas::plugin
