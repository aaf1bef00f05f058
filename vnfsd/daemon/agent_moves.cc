// Agent: its part in the moves of VNFSs: it answers orders, gives up, and says when one is served.
#include <net/if.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/clients/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/moves/limits.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

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
  for (const std::string& one : tcp) record.add_tcp(one);
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

Status Agent::check_can_take(const ClusterView& view, const std::string& vnfs) const {
  const auto self = view.heads.find(config_.head_name);
  if (self != view.heads.end() && self->second.record.draining())
    return fail(ErrorCode::kBusy, "this head is being drained");
  SYMNAS_TRY(check_registered(view, vnfs));
  SYMNAS_ASSIGN(const instance::InstancePlan plan, instance::plan_instance(view, config_, vnfs));
  for (const instance::LinkPlan& link : plan.links) {
    if (const std::string why = why_ill(link.network); !why.empty())
      return fail(ErrorCode::kBusy, fmt::format("network {}: {}", link.network, why));
    if (::if_nametoindex(link.device.c_str()) != 0) continue;
    return fail(ErrorCode::kNotFound,
                fmt::format("network {}: this head has no device {}", link.network, link.device));
  }
  if (self != view.heads.end() && self->second.record.luns_known() &&
      reaches_all_of(view, vnfs, config_.head_name)) {
    return {};
  }
  return fail(ErrorCode::kBusy, "this head has not all its LUNs open");
}

// What fails is done again with the next change of the records, or by the next look at them.
void Agent::answer_moves(const ClusterView& view, const std::map<Revision, std::int64_t>& ages) {
  preparing_.clear();
  for (const auto& [vnfs, move] : view.moves) {
    if (move.record.to() != config_.head_name || !view.vnfses.contains(vnfs)) continue;
    if (move.record.ready_incarnation() == incarnation_) {
      if (view.owners.contains(vnfs)) preparing_.insert(vnfs);
      finish_move(view, vnfs);
      continue;
    }
    // Whoever gave it does not wait any more.
    if (ages.at(move.mod_revision) > kOrderNs) continue;
    if (const Status able = check_can_take(view, vnfs); !able) {
      say_why_not(vnfs, move, able.error().message);
      continue;
    }
    if (view.owners.contains(vnfs)) {
      preparing_.insert(vnfs);
      std::string why_not;
      if (!is_prepared(vnfs, why_not)) {
        if (!why_not.empty()) say_why_not(vnfs, move, why_not);
        continue;
      }
    }
    records::MoveRecord ready = move.record;
    ready.set_ready_incarnation(incarnation_);
    ready.clear_refusal();
    const std::string key = kv::keys::kMoves + vnfs;
    kv::Txn txn;
    txn.compares.push_back(kv::mod_revision_is(key, move.mod_revision));
    txn.success.push_back(kv::put(key, ready.SerializeAsString()));
    const auto done = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
    if (!done) log::warn("vnfs {}: taking it over: {}", vnfs, done.error().message);
    crash_point("answered", vnfs);
  }
  // Their standbys start while their heads are being fenced; not again each time that fails.
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  for (const auto& [head, fence] : view.fences) {
    if (fence.record.state() != records::FENCE_FAILED) continue;
    auto& [revision, since_ms] = unproven_[fence.record.incarnation()];
    if (std::exchange(revision, fence.mod_revision) != fence.mod_revision) since_ms = now_ms;
  }
  std::erase_if(unproven_, [&](const auto& one) {
    return std::ranges::none_of(view.fences, [&](const auto& fence) {
      return fence.second.record.incarnation() == one.first;
    });
  });
  for (const std::string& vnfs : falling_to(view, config_.head_name)) {
    const auto unproven = unproven_.find(view.owners.at(vnfs).record.incarnation());
    const bool failed =
        unproven != unproven_.end() && now_ms - unproven->second.second <= kUnprovenMs;
    if (!failed && check_can_take(view, vnfs)) preparing_.insert(vnfs);
  }
}

void Agent::end_standbys() const {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(config_.daemon.run_dir + "/vnfs", error)) {
    const std::string vnfs = entry.path().filename().string();
    const auto text = instance::read_file(instance::paths_for(config_, vnfs).state_file);
    const auto state = text ? instance::parse_state(*text) : tl::unexpected<Error>(text.error());
    if (!state || !state->standby || state->incarnation != incarnation_) continue;
    const auto process = instance::Process::adopt(state->process);
    if (!process) continue;
    process->kill();
    process->wait(instance::kKillTimeoutMs);
    log::info("vnfs {}: standby pid {} of an earlier agent: ended", vnfs, state->process.pid);
  }
}

bool Agent::is_prepared(const std::string& vnfs, std::string& why_not) {
  const std::scoped_lock lock(mutex_);
  const auto supervisor = supervisors_.find(vnfs);
  if (supervisor == supervisors_.end()) return false;
  const instance::InstanceSnapshot snapshot = supervisor->second->snapshot();
  if (!snapshot.vips_taken.empty()) why_not = snapshot.vips_taken;
  return snapshot.state == "prepared";
}

void Agent::prepared(const std::string&) { look_again(); }

// When served() could not.
void Agent::finish_move(const ClusterView& view, const std::string& vnfs) {
  const auto owner = view.owners.find(vnfs);
  if (owner == view.owners.end() || owner->second.record.head() != config_.head_name) return;
  {
    const std::scoped_lock lock(mutex_);
    const auto supervisor = supervisors_.find(vnfs);
    if (supervisor == supervisors_.end() || supervisor->second->snapshot().state != "serving") {
      return;
    }
  }
  if (const Status ended = end_move(vnfs); !ended) log::warn("{}", ended.error().message);
}

void Agent::watch_clients() {
  std::int64_t recorded_ms = 0;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, std::chrono::milliseconds(kNewClientsLookMs), [&] { return ending_; });
    if (ending_) return;
    if (!ready_) continue;
    std::map<std::string, instance::InstanceSnapshot> serving;
    for (const auto& [vnfs, supervisor] : supervisors_) {
      const instance::InstanceSnapshot snapshot = supervisor->snapshot();
      if (snapshot.state == "serving" && !snapshot.silent) serving[vnfs] = snapshot;
    }
    lock.unlock();
    const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
    if (now_ms - recorded_ms >= kClientsLookMs) {
      recorded_ms = now_ms;
    } else {
      keep_those_with_new_clients(serving);
    }
    if (!serving.empty()) {
      const auto seen = copy_.view();
      if (seen && *seen) record_connections(**seen, serving);
    }
    lock.lock();
  }
}

void Agent::keep_those_with_new_clients(
    std::map<std::string, instance::InstanceSnapshot>& serving) {
  std::erase_if(recorded_clients_,
                [&](const auto& known) { return !serving.contains(known.first); });
  std::erase_if(serving, [&](const auto& one) {
    const auto accepted = instance::accepted_by(one.second.pid);
    return !accepted || recorded_clients_[one.first] == std::pair(one.second.pid, *accepted);
  });
}

void Agent::record_connections(const ClusterView& view,
                               const std::map<std::string, instance::InstanceSnapshot>& serving) {
  for (const auto& [vnfs, snapshot] : serving) {
    const int pid = snapshot.pid;
    const auto owner = view.owners.find(vnfs);
    if (owner == view.owners.end() || owner->second.record.head() != config_.head_name) continue;
    const auto accepted = instance::accepted_by(pid);
    auto now = connections_now(pid, instance::paths_for(config_, vnfs).control);
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
      const auto done = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
      if (!done) log::debug("vnfs {}: its connections: {}", vnfs, done.error().message);
      if (!done || !done->succeeded) continue;
    }
    if (accepted) recorded_clients_[vnfs] = {pid, *accepted};
  }
}

// The clients wait: what the watch has shown is tried first, the transaction compares it.
Status Agent::release(const std::string& vnfs, const instance::Farewell& farewell) {
  const auto seen = copy_.view();
  const bool owned = seen && *seen && (*seen)->owners.contains(vnfs) &&
                     (*seen)->owners.at(vnfs).record.head() == config_.head_name;
  if (owned) {
    const Status released = release_of(**seen, vnfs, farewell);
    if (released || released.error().code != ErrorCode::kConflict) return released;
  }
  SYMNAS_ASSIGN(const ClusterView view, fresh_view());
  return release_of(view, vnfs, farewell);
}

Status Agent::release_of(const ClusterView& view, const std::string& vnfs,
                         const instance::Farewell& farewell) {
  const auto owner = view.owners.find(vnfs);
  if (owner == view.owners.end() || owner->second.record.head() != config_.head_name) return {};
  if (!check_not_removed(view)) return {};  // another machine's of this name
  records::Departure departure = farewell.departure;
  const auto move = view.moves.find(vnfs);
  if (move != view.moves.end()) departure.set_cause(records::DEPARTURE_MOVED);
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kOwners + vnfs, owner->second.mod_revision));
  txn.success.push_back(kv::erase(kv::keys::kOwners + vnfs));
  if (!farewell.connections.empty() || !farewell.unheard.empty()) {
    records::ConnectionsRecord connections;
    for (const std::string& tcp : farewell.connections) connections.add_tcp(tcp);
    for (const std::string& tcp : farewell.unheard) connections.add_unheard(tcp);
    txn.success.push_back(kv::put(kv::keys::kConnections + vnfs, connections.SerializeAsString()));
  } else if (departure.epoch() != 0) {  // its last instance has said that there are none
    txn.success.push_back(kv::erase(kv::keys::kConnections + vnfs));
  }
  if (move != view.moves.end()) {
    records::MoveRecord left = move->second.record;
    *left.mutable_departure() = departure;
    // Also when no instance has run: whoever comes after has a later epoch than all there were.
    left.mutable_departure()->set_epoch(std::max(departure.epoch(), owner->second.record.epoch()));
    txn.success.push_back(kv::put(kv::keys::kMoves + vnfs, left.SerializeAsString()));
  }
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kMoves + vnfs, move == view.moves.end() ? Revision{} : move->second.mod_revision));
  SYMNAS_ASSIGN(const kv::TxnResult result,
                kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
  if (!result.succeeded) {
    return fail(ErrorCode::kConflict, fmt::format("vnfs {}: its records changed", vnfs));
  }
  copy_.must_show(result.revision);
  note_departure(vnfs, departure);
  return {};
}

Status Agent::served(const std::string& vnfs, const instance::Arrival& arrival) {
  const Status ended = end_move(vnfs);
  note_arrival(vnfs, arrival);
  return ended;
}

Status Agent::end_move(const std::string& vnfs) {
  SYMNAS_ASSIGN(const ClusterView seen, seen_view());
  const Status ended = end_move_of(seen, vnfs);
  if (ended || ended.error().code != ErrorCode::kConflict) return ended;
  SYMNAS_ASSIGN(const ClusterView view, fresh_view());
  return end_move_of(view, vnfs);
}

Status Agent::end_move_of(const ClusterView& view, const std::string& vnfs) {
  const auto move = view.moves.find(vnfs);
  if (move == view.moves.end() || move->second.record.to() != config_.head_name) return {};
  const std::string key = kv::keys::kMoves + vnfs;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, move->second.mod_revision));
  txn.success.push_back(kv::erase(key));
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
  if (!done.succeeded)
    return fail(ErrorCode::kConflict, fmt::format("vnfs {}: another order", vnfs));
  return {};
}

}  // namespace symnas::vnfsd::daemon
