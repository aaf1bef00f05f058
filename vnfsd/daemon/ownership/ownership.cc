#include "vnfsd/daemon/ownership/ownership.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/plans/ownership.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
Ownership::Ownership(const OwnershipParts& parts)
    : head_(parts.head),
      reader_(parts.reader),
      events_(parts.events),
      history_(parts.history),
      luns_(parts.luns),
      registrations_(parts.registrations) {}

// Nobody else gets the epoch: it is taken although it may never be used.
Result<instance::InstancePlan> Ownership::prepare(const std::string& vnfs) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  SYMNAS_TRY(registrations_.check(view, vnfs));
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, head_.config, vnfs));
  kv::Txn txn;
  SYMNAS_ASSIGN(const std::uint64_t epoch,
                take_from_counter(view, kv::keys::kEpochCounter, 0xffffffff, txn));
  SYMNAS_ASSIGN(const kv::TxnResult taken,
                kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  if (!taken.succeeded) {
    return fail(ErrorCode::kConflict, fmt::format("vnfs {}: records changed: again", vnfs));
  }
  plan.epoch = Epoch(epoch);
  plan.incarnation = head_.incarnation;
  plan.standby = true;
  plan.is_awaited = falling_to(view, head_.config.head_name).contains(vnfs);
  plan.luns = luns_.paths();
  return plan;
}

void Ownership::prepared(const std::string&) { reader_.look_again(); }

// The clients wait: what the watch has shown is tried first. The transaction compares what the plan
// is made from.
Result<instance::InstancePlan> Ownership::claim(const std::string& vnfs,
                                                std::optional<Epoch> prepared) {
  if (const auto seen = reader_.shown(); seen && *seen) {
    auto plan = claim_from(**seen, vnfs, prepared);
    if (plan || kv::maybe_executed(plan.error())) return plan;
  }
  SYMNAS_ASSIGN(const ClusterView view, reader_.fresh());
  return claim_from(view, vnfs, prepared);
}

Result<instance::InstancePlan> Ownership::claim_from(const ClusterView& view,
                                                     const std::string& vnfs,
                                                     std::optional<Epoch> prepared) {
  SYMNAS_TRY(registrations_.check(view, vnfs));
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, head_.config, vnfs));
  SYMNAS_ASSIGN(Claim claim, plan_claim(view, head_.boot(), vnfs, prepared, head_.clock.wall_ns()));
  const auto result = kv::txn_blocking(head_.store, std::move(claim.txn), kStoreDeadlineMs);
  if (result && !result->succeeded) {
    return fail(ErrorCode::kConflict,
                fmt::format("vnfs {}: records changed: claiming again", vnfs));
  }
  if (result) {
    plan.owner_mod_revision = result->revision;
  } else if (kv::maybe_executed(result.error())) {
    // The epoch is taken once only: a record that carries it is ours. (If the transaction comes to
    // be later, the next claim supersedes it; this instance's epoch was never used.)
    SYMNAS_ASSIGN(const ClusterView now, read_view(head_.store, kStoreDeadlineMs));
    const auto mine = now.owners.find(vnfs);
    if (mine == now.owners.end() || mine->second.record.epoch() != claim.epoch ||
        mine->second.record.head() != head_.config.head_name) {
      return tl::unexpected<Error>(result.error());
    }
    plan.owner_mod_revision = mine->second.mod_revision;
  } else {
    return tl::unexpected<Error>(result.error());
  }
  plan.epoch = Epoch(claim.epoch);
  plan.incarnation = head_.incarnation;
  plan.luns = luns_.paths();
  reader_.must_show(plan.owner_mod_revision);
  log::info("vnfs {}: claimed with epoch {}", vnfs, claim.epoch);
  return plan;
}

Result<instance::InstancePlan> Ownership::plan_of(const std::string& vnfs,
                                                  const instance::InstanceState& state) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, head_.config, vnfs));
  plan.epoch = state.epoch;
  plan.incarnation = state.incarnation;
  plan.owner_mod_revision = state.owner_mod_revision;
  plan.luns = luns_.paths();
  return plan;
}

}  // namespace symnas::vnfsd::daemon
