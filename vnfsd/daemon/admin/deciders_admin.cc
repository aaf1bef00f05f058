#include "vnfsd/daemon/admin/deciders_admin.h"

#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Deciders repeat their orders.
Result<std::string> once(Result<std::string> done) {
  if (!done && done.error().code == ErrorCode::kAlreadyExists) return done.error().message;
  return done;
}

}  // namespace

// What could not be carried out is not decided: another head may be able to.
Result<std::string> DecidersAdmin::take(const DeciderOrder& order, Mode mode) {
  SYMNAS_TRY(parts_.reader.wait_ready());
  SYMNAS_TRY(victim_of(order));
  auto done = once(commit(
      parts_.head, parts_.events,
      [&](const ClusterView& view) -> Result<Change> {
        SYMNAS_ASSIGN(Change change, plan_take(view, order, parts_.head.clock.wall_ns()));
        SYMNAS_TRY(check_not_just_decided(view, order));
        return change;
      },
      mode));
  if (!done || mode == Mode::kDryRun) return done;
  {
    const MutexLock lock(mutex_);
    decided_.erase(order.vnfs);
  }
  SYMNAS_ASSIGN(const auto victim, victim_of(order));
  // Its proof is waited for by whoever waits for the VNFS.
  if (victim && parts_.fences.start_fence(victim->first, victim->second)) {
    log::warn("head {}: not heard, and {} wants vnfs {} on {}: fencing", victim->first,
              name_of(order.by), order.vnfs, order.head);
  }
  return done;
}

// Two that insist on a VNFS do not take it from each other before either could have it.
Status DecidersAdmin::check_not_just_decided(const ClusterView& view, const DeciderOrder& order) {
  const records::VnfsRecord& vnfs = view.vnfses.at(order.vnfs).record;
  const std::string& told = vnfs.decided_head();
  const auto owner = view.owners.find(order.vnfs);
  const bool is_carried_out = owner != view.owners.end() && owner->second.record.head() == told;
  const bool stands = is_decision_valid(view, vnfs) && !is_carried_out &&
                      !is_fenced(view, view.heads.at(told).record);
  const std::int64_t now_ns = parts_.head.clock.mono_ns();
  const MutexLock lock(mutex_);
  if (!stands || told == order.head) return {};
  Decided& known = decided_[order.vnfs];
  if (known.head != told) known = {told, now_ns};
  const std::int64_t left_ns = known.since_ns + kDecidedNs - now_ns;
  if (left_ns <= 0) return {};
  return fail(
      ErrorCode::kBusy,
      fmt::format("vnfs {}: {} was told to take it, and gets {} s more for that (do two heads "
                  "insist on it? look at {})",
                  order.vnfs, told, (left_ns + kSecondNs - 1) / kSecondNs, name_of(order.by)));
}

// The head's present boot is fenced, whichever of its boots has the VNFS: the proof that nothing of
// it runs is one for the boots before, too.
Result<std::optional<DecidersAdmin::Victim>> DecidersAdmin::victim_of(const DeciderOrder& order) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(parts_.head.store, kStoreDeadlineMs));
  const auto owner = view.owners.find(order.vnfs);
  if (owner == view.owners.end() || owner->second.record.head() == order.head) return std::nullopt;
  const std::string& former = owner->second.record.head();
  const auto head = view.heads.find(former);
  if (head == view.heads.end() || is_fenced(view, head->second.record) ||
      !parts_.heads.is_left_to_decider(former, head->second.record.incarnation())) {
    return std::nullopt;
  }
  SYMNAS_TRY(parts_.fences.check_can_fence(view));
  if (const std::string why = parts_.fences.why_no_failover(); !why.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("vnfs {}: {} has it and is not heard: {}", order.vnfs, former, why));
  }
  const auto fence = view.fences.find(former);
  return Victim{former,
                {head->second.record.incarnation(),
                 {fence == view.fences.end() ? Revision{} : fence->second.mod_revision, "", {}},
                 parts_.head.clock.wall_ns(),
                 true}};
}

Result<std::string> DecidersAdmin::leave(const DeciderOrder& order, Mode mode) {
  SYMNAS_TRY(parts_.reader.wait_ready());
  return once(commit(
      parts_.head, parts_.events, [&](const ClusterView& view) { return plan_leave(view, order); },
      mode));
}

Result<nlohmann::json> DecidersAdmin::standing(const std::string& vnfs, const std::string& head) {
  SYMNAS_TRY(parts_.reader.wait_ready());
  SYMNAS_ASSIGN(const ClusterView view, read_view(parts_.head.store, kStoreDeadlineMs));
  std::optional<InstanceSight> here;
  const auto snapshots = parts_.instances.snapshots();
  const auto known = snapshots.find(vnfs);
  if (head == parts_.head.config.head_name) {
    here = known == snapshots.end() ? InstanceSight{std::nullopt, ""}
                                    : InstanceSight{known->second.standing(), known->second.error};
  }
  SYMNAS_ASSIGN(const DeciderSight sight, look_as_decider(view, vnfs, head, here));
  return nlohmann::json{{"vnfs", vnfs},
                        {"head", head},
                        {"standing", name_of(sight.standing)},
                        {"why", sight.why},
                        {"owner", sight.owner}};
}

}  // namespace symnas::vnfsd::daemon
