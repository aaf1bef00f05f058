#include "vnfsd/daemon/admin/deciders_admin.h"

#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
namespace {

// Deciders repeat their orders.
Result<std::string> once(Result<std::string> done) {
  if (!done && done.error().code == ErrorCode::kAlreadyExists) return done.error().message;
  return done;
}

}  // namespace

Result<std::string> DecidersAdmin::take(const DeciderOrder& order, Mode mode) {
  SYMNAS_TRY(parts_.reader.wait_ready());
  auto done = once(commit(
      parts_.head, parts_.events,
      [&](const ClusterView& view) { return plan_take(view, order, parts_.head.clock.wall_ns()); },
      mode));
  if (!done || mode == Mode::kDryRun) return done;
  SYMNAS_TRY(fence_former_owner(order));
  return done;
}

// Its proof is waited for by whoever waits for the VNFS.
Status DecidersAdmin::fence_former_owner(const DeciderOrder& order) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(parts_.head.store, kStoreDeadlineMs));
  const auto owner = view.owners.find(order.vnfs);
  if (owner == view.owners.end() || owner->second.record.head() == order.head) return {};
  const std::string& former = owner->second.record.head();
  const auto victim = view.heads.find(former);
  const std::string& incarnation = owner->second.record.incarnation();
  if (victim == view.heads.end() || victim->second.record.incarnation() != incarnation)
    return {};  // its next boot proves the end itself
  if (is_fenced(view, victim->second.record) || !parts_.heads.is_left_to_decider(former)) return {};
  SYMNAS_TRY(parts_.fences.check_can_fence(view));
  if (const std::string why = parts_.fences.why_no_failover(); !why.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("vnfs {}: {} has it and is not heard: {}", order.vnfs, former, why));
  }
  const auto fence = view.fences.find(former);
  const FenceCause cause{incarnation,
                         fence == view.fences.end() ? Revision{} : fence->second.mod_revision,
                         "",
                         {},
                         parts_.head.clock.wall_ns(),
                         true};
  if (parts_.fences.start_fence(former, cause)) {
    log::warn("head {}: not heard, and {} wants vnfs {} on {}: fencing", former, name_of(order.by),
              order.vnfs, order.head);
  }
  return {};
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
    here = known == snapshots.end() ? InstanceSight{"not there", ""}
                                    : InstanceSight{known->second.state, known->second.error};
  }
  SYMNAS_ASSIGN(const DeciderSight sight, look_as_decider(view, vnfs, head, here));
  return nlohmann::json{{"vnfs", vnfs},
                        {"head", head},
                        {"standing", name_of(sight.standing)},
                        {"why", sight.why},
                        {"owner", sight.owner}};
}

}  // namespace symnas::vnfsd::daemon
