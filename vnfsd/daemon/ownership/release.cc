// Ownership: giving a VNFS up, and the end of the order that led one here.
#include <algorithm>
#include <ranges>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/ownership/ownership.h"
#include "vnfsd/plans/ownership.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd::daemon {

// The clients wait: what the watch has shown is tried first, the transaction compares it.
Status Ownership::release(const std::string& vnfs, const instance::Farewell& farewell) {
  const auto seen = reader_.shown();
  const bool owned = seen && *seen && (*seen)->owners.contains(vnfs) &&
                     (*seen)->owners.at(vnfs).record.head() == head_.config.head_name;
  if (owned) {
    const Status released = release_of(**seen, vnfs, farewell);
    if (released || released.error().code != ErrorCode::kConflict) return released;
  }
  SYMNAS_ASSIGN(const ClusterView view, reader_.fresh());
  return release_of(view, vnfs, farewell);
}

Status Ownership::release_of(const ClusterView& view, const std::string& vnfs,
                             const instance::Farewell& farewell) {
  auto plan = plan_release(view, head_.boot(), vnfs,
                           {farewell.departure, farewell.connections, farewell.unheard});
  if (!plan) return {};
  SYMNAS_ASSIGN(const kv::TxnResult result,
                kv::txn_blocking(head_.store, std::move(plan->txn), kStoreDeadlineMs));
  if (!result.succeeded) {
    return fail(ErrorCode::kConflict, fmt::format("vnfs {}: its records changed", vnfs));
  }
  reader_.must_show(result.revision);
  history_.note_departure(vnfs, plan->departure);
  return {};
}

Status Ownership::served(const std::string& vnfs, const instance::Arrival& arrival) {
  const Status ended = end_move(vnfs);
  history_.note_arrival(vnfs, arrival);
  return ended;
}

Status Ownership::end_move(const std::string& vnfs) {
  SYMNAS_ASSIGN(const ClusterView seen, reader_.seen());
  const Status ended = end_move_of(seen, vnfs);
  if (ended || ended.error().code != ErrorCode::kConflict) return ended;
  SYMNAS_ASSIGN(const ClusterView view, reader_.fresh());
  return end_move_of(view, vnfs);
}

Status Ownership::end_move_of(const ClusterView& view, const std::string& vnfs) {
  const auto move = view.moves.find(vnfs);
  if (move == view.moves.end() || move->second.record.to() != head_.config.head_name) return {};
  const std::string key = kv::keys::kMoves + vnfs;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, move->second.mod_revision));
  txn.success.push_back(kv::erase(key));
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  if (!done.succeeded)
    return fail(ErrorCode::kConflict, fmt::format("vnfs {}: another order", vnfs));
  return {};
}

}  // namespace symnas::vnfsd::daemon
