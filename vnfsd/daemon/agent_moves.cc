// Agent: its part in the moves of VNFSs: it answers orders, gives up, and says when one is served.
#include <net/if.h>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/limits.h"
#include "vnfsd/limits.h"
#include "vnfsd/plans.h"

namespace symnas::vnfsd::daemon {

Status Agent::check_can_take(const ClusterView& view, const std::string& vnfs) const {
  SYMNAS_ASSIGN(const instance::InstancePlan plan, instance::plan_instance(view, config_, vnfs));
  for (const instance::LinkPlan& link : plan.links) {
    if (::if_nametoindex(link.device.c_str()) != 0) continue;
    return fail(ErrorCode::kNotFound,
                fmt::format("network {}: this head has no device {}", link.network, link.device));
  }
  if (view.heads.contains(config_.head_name) &&
      view.heads.at(config_.head_name).record.luns_known() &&
      sees_luns_of(view, vnfs, config_.head_name)) {
    return {};
  }
  return fail(ErrorCode::kBusy, "this head has not all its LUNs open");
}

// What fails is done again with the next change of the records, or by the next look at them.
void Agent::answer_moves(const ClusterView& view) {
  for (const auto& [vnfs, move] : view.moves) {
    if (move.record.to() != config_.head_name || !view.vnfses.contains(vnfs)) continue;
    if (move.record.ready_incarnation() == incarnation_) {
      finish_move(view, vnfs);
      continue;
    }
    // Whoever gave it does not wait any more.
    if (clock_.wall_ns() - move.record.ordered_ns() > kOrderNs) continue;
    if (const Status able = check_can_take(view, vnfs); !able) {
      log::error("vnfs {}: is not taken over: {}", vnfs, able.error().message);
      continue;
    }
    records::MoveRecord ready = move.record;
    ready.set_ready_incarnation(incarnation_);
    const std::string key = kv::keys::kMoves + vnfs;
    kv::Txn txn;
    txn.compares.push_back(kv::mod_revision_is(key, move.mod_revision));
    txn.success.push_back(kv::put(key, ready.SerializeAsString()));
    const auto done = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
    if (!done) log::warn("vnfs {}: taking it over: {}", vnfs, done.error().message);
  }
}

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
  if (const Status told = served(vnfs); !told) log::warn("{}", told.error().message);
}

Status Agent::release(const std::string& vnfs, const instance::Farewell& farewell) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  const auto owner = view.owners.find(vnfs);
  if (owner == view.owners.end() || owner->second.record.head() != config_.head_name) return {};
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kOwners + vnfs, owner->second.mod_revision));
  txn.success.push_back(kv::erase(kv::keys::kOwners + vnfs));
  if (!farewell.connections.empty()) {
    records::ConnectionsRecord connections;
    for (const std::string& tcp : farewell.connections) connections.add_tcp(tcp);
    txn.success.push_back(kv::put(kv::keys::kConnections + vnfs, connections.SerializeAsString()));
  }
  const auto move = view.moves.find(vnfs);
  if (move != view.moves.end()) {
    records::MoveRecord left = move->second.record;
    if (farewell.departure.began_ns() != 0) *left.mutable_departure() = farewell.departure;
    txn.compares.push_back(kv::mod_revision_is(kv::keys::kMoves + vnfs, move->second.mod_revision));
    txn.success.push_back(kv::put(kv::keys::kMoves + vnfs, left.SerializeAsString()));
  }
  SYMNAS_ASSIGN(const kv::TxnResult result,
                kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
  if (result.succeeded) return {};
  return fail(ErrorCode::kConflict, fmt::format("vnfs {}: its records changed", vnfs));
}

Status Agent::served(const std::string& vnfs) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
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
  const records::Departure& left = move->second.record.departure();
  if (left.began_ns() == 0) {
    log::info("vnfs {}: moved from {}", vnfs, move->second.record.from());
    return {};
  }
  log::info(
      "vnfs {}: moved from {}: {} ms after the last request was begun there: requests {} ms, "
      "replies "
      "{} ms, close {} ms, proof {} ms; {} requests left to this head{}{}",
      vnfs, move->second.record.from(), (clock_.wall_ns() - left.began_ns()) / 1'000'000,
      left.requests_ms(), left.replies_ms(), left.close_ms(), left.proof_ms(), left.kept(),
      left.error().empty() ? "" : "; ", left.error());
  return {};
}

}  // namespace symnas::vnfsd::daemon
