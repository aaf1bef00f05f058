#include "vnfsd/daemon/clients/client_use.h"

#include <set>

#include <fmt/core.h>

#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/connections.h"

namespace symnas::vnfsd::daemon {

Result<std::vector<std::pair<FsId, fs::LockUse>>> locks_of(kv::Store& store,
                                                           const ClusterView& view,
                                                           const std::string& vnfs) {
  std::set<std::uint32_t> filesystems;
  for (const auto& [name, filesystem] : view.filesystems) {
    if (!filesystem.record.removing()) filesystems.insert(filesystem.record.fsid());
  }
  std::vector<std::pair<FsId, fs::LockUse>> out;
  for (const std::uint32_t fsid : filesystems) {
    SYMNAS_ASSIGN(fs::LockUse use, fs::lock_use(store, FsId(fsid), vnfs, kStoreDeadlineMs));
    if (!use.keys.empty() || !use.waits.empty()) out.emplace_back(FsId(fsid), std::move(use));
  }
  return out;
}

Result<ClientUse> client_use(kv::Store& store, const ClusterView& view, const std::string& vnfs) {
  ClientUse use;
  std::set<std::string> clients;
  const auto record = view.connections.find(vnfs);
  if (record != view.connections.end()) {
    for (const std::string& text : record->second.record.tcp()) {
      const auto connection = instance::Connection::parse(text);
      if (!connection) continue;
      ++use.connections;
      clients.insert(connection->remote.address.to_string());
    }
  }
  use.clients = clients.size();
  SYMNAS_ASSIGN(const auto locks, locks_of(store, view, vnfs));
  for (const auto& [fs, one] : locks) use.lock_records += one.keys.size();
  return use;
}

std::string text_of(const ClientUse& use) {
  return fmt::format("{} clients with {} connections, {} lock owners with locks recorded",
                     use.clients, use.connections, use.lock_records);
}

}  // namespace symnas::vnfsd::daemon
