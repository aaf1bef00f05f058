// Agent: changes that clients notice say how many there are.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/connections.h"
#include "vnfsd/records/expected_pause.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {
namespace {

std::string text_of(std::size_t clients, std::size_t connections, std::size_t lock_records) {
  return fmt::format("{} clients with {} connections, {} lock owners with locks recorded", clients,
                     connections, lock_records);
}

}  // namespace

Result<std::vector<std::pair<FsId, fs::LockUse>>> Agent::locks_of(const ClusterView& view,
                                                                  const std::string& vnfs) {
  std::set<std::uint32_t> filesystems;
  for (const auto& [name, filesystem] : view.filesystems) {
    if (!filesystem.record.removing()) filesystems.insert(filesystem.record.fsid());
  }
  std::vector<std::pair<FsId, fs::LockUse>> out;
  for (const std::uint32_t fsid : filesystems) {
    SYMNAS_ASSIGN(fs::LockUse use, fs::lock_use(store_, FsId(fsid), vnfs, kStoreDeadlineMs));
    if (!use.keys.empty()) out.emplace_back(FsId(fsid), std::move(use));
  }
  return out;
}

Result<Agent::ClientUse> Agent::client_use(const ClusterView& view, const std::string& vnfs) {
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
  SYMNAS_ASSIGN(const auto locks, locks_of(view, vnfs));
  for (const auto& [fs, one] : locks) use.lock_records += one.keys.size();
  return use;
}

// Whoever has it mounted hangs for ever, and nobody else could give its locks back: they go with
// it.
Result<std::string> Agent::remove_vnfs(const std::string& name, api::Consent consent, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_TRY(plan_vnfs_remove(before, name));
  SYMNAS_ASSIGN(const ClientUse use, client_use(before, name));
  const bool used = use.clients != 0 || use.lock_records != 0;
  const std::string who = text_of(use.clients, use.connections, use.lock_records);
  if (used && consent == api::Consent::kNo && mode == Mode::kCommit) {
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: in use when it was stopped: {}; these clients would hang for "
                            "ever and lose their locks (--yes if that is meant)",
                            name, who));
  }
  auto done = commit([&](const ClusterView& view) { return plan_vnfs_remove(view, name); }, mode);
  if (!done) return done;
  if (used) *done += fmt::format("\nvnfs {}: had {}", name, who);
  if (mode == Mode::kDryRun) return done;
  SYMNAS_ASSIGN(const auto locks, locks_of(before, name));
  for (const auto& [fsid, one] : locks) {
    const Status gone =
        fs::forget_locks(store_, fsid, one, kv::keys::kVnfs + name, kStoreDeadlineMs);
    if (!gone) log::warn("vnfs {}: locks of its clients stay: {}", name, gone.error().message);
  }
  return done;
}

Result<std::string> Agent::rehost_vnfs(const std::string& name, const std::string& head, Pin pin,
                                       Mode mode) {
  auto done = change(
      [&](const ClusterView& view) {
        return plan_vnfs_rehost(view, name, head, clock_.wall_ns(), pin);
      },
      mode);
  if (!done || mode == Mode::kCommit) return done;
  SYMNAS_ASSIGN(const ClusterView now, view());
  SYMNAS_ASSIGN(const ClientUse use, client_use(now, name));
  SYMNAS_ASSIGN(const auto tenures, read_history(store_, name, kStoreDeadlineMs));
  *done +=
      fmt::format("\nvnfs {}: {}", name, text_of(use.clients, use.connections, use.lock_records));
  *done += fmt::format("\nvnfs {}: expected pause: {}", name, expected_pause(tenures, head));
  return done;
}

}  // namespace symnas::vnfsd::daemon
