#include "vnfsd/daemon/clients/client_watcher.h"

#include <ranges>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/clients/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/connections.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// In order, so that equal ones look equal.
Result<records::ConnectionsRecord> connections_now(int pid, const std::string& control) {
  SYMNAS_ASSIGN(const auto connections, instance::connections_of(pid));
  std::set<std::string> tcp;
  std::set<std::string> clients;
  for (const instance::Connection& one : connections) {
    tcp.insert(one.to_string());
    clients.insert(one.remote.address.to_string());
  }
  records::ConnectionsRecord record;
  for (const std::string& one : tcp | std::views::take(kConnectionsRecorded)) record.add_tcp(one);
  const auto used = instance::export_clients(control);
  if (!used) return record;
  for (const auto& [id, users] : *used) {
    records::ExportClients one;
    one.set_export_id(id);
    for (const std::string& client : std::set<std::string>(users.begin(), users.end())) {
      if (clients.contains(client)) one.add_clients(client);
    }
    if (one.clients_size() != 0) *record.add_exports() = std::move(one);
  }
  return record;
}

}  // namespace

ClientSights kernel_sights() { return {instance::accepted_by, connections_now}; }

ClientWatcher::ClientWatcher(const ThisHead& head, ClusterReader& reader,
                             const Instances& instances, ClientSights sights, std::stop_token end)
    : head_(head),
      reader_(reader),
      instances_(instances),
      sights_(std::move(sights)),
      loop_(std::move(end)) {}

void ClientWatcher::start() {
  loop_.start(kNewClientsLookMs, [this] { look(); });
}

void ClientWatcher::look() {
  if (!reader_.is_ready()) return;
  Serving serving;
  for (const auto& [vnfs, snapshot] : instances_.snapshots()) {
    if (snapshot.standing() == InstanceStanding::kServing && !snapshot.silent)
      serving[vnfs] = snapshot;
  }
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  if (now_ms - recorded_ms_ >= kClientsLookMs) {
    recorded_ms_ = now_ms;
  } else {
    keep_those_with_new_clients(serving);
  }
  if (serving.empty()) return;
  const auto seen = reader_.shown();
  if (seen && *seen) record_connections(**seen, serving);
}

void ClientWatcher::keep_those_with_new_clients(Serving& serving) {
  std::erase_if(recorded_clients_,
                [&](const auto& known) { return !serving.contains(known.first); });
  std::erase_if(serving, [&](const auto& one) {
    const auto accepted = sights_.accepted(one.second.pid);
    return !accepted || recorded_clients_[one.first] == std::pair(one.second.pid, *accepted);
  });
}

void ClientWatcher::record_connections(const ClusterView& view, const Serving& serving) {
  for (const auto& [vnfs, snapshot] : serving) {
    const int pid = snapshot.pid;
    const auto owner = view.owners.find(vnfs);
    if (owner == view.owners.end() || owner->second.record.head() != head_.config.head_name)
      continue;
    const auto accepted = sights_.accepted(pid);
    auto now = sights_.connected(pid, instance::paths_for(head_.config, vnfs).control);
    // Not to be read: it is dying. Who was connected is still to be woken.
    if (!now) continue;
    for (const std::string& one : snapshot.unheard) now->add_unheard(one);
    const auto old = view.connections.find(vnfs);
    if (old == view.connections.end() ||
        old->second.record.SerializeAsString() != now->SerializeAsString()) {
      kv::Txn txn;
      txn.compares.push_back(
          kv::mod_revision_is(kv::keys::kOwners + vnfs, owner->second.mod_revision));
      txn.success.push_back(kv::put(kv::keys::kConnections + vnfs, now->SerializeAsString()));
      const auto done = kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs);
      if (!done) log::debug("vnfs {}: its connections: {}", vnfs, done.error().message);
      if (!done || !done->succeeded) continue;
    }
    if (accepted) recorded_clients_[vnfs] = {pid, *accepted};
  }
}

}  // namespace symnas::vnfsd::daemon
