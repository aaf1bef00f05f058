// ClientUse: how many clients are connected to a VNFS and how many locks are recorded through it,
// as the records tell. Thread-safe: only reads.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/kv/store.h"
#include "fsal_cluster/state/lock_use.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

struct ClientUse {
  std::size_t clients = 0;
  std::size_t connections = 0;
  std::size_t lock_records = 0;
};

// Errors: those of the store.
Result<ClientUse> client_use(kv::Store& store, const ClusterView& view, const std::string& vnfs);
// The locks recorded through the VNFS, by filesystem; filesystems without any are left out. Errors:
// those of the store.
Result<std::vector<std::pair<FsId, fs::LockUse>>> locks_of(kv::Store& store,
                                                           const ClusterView& view,
                                                           const std::string& vnfs);
// The text for a person.
std::string text_of(const ClientUse& use);

}  // namespace symnas::vnfsd::daemon
