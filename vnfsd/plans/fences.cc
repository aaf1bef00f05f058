#include "vnfsd/plans/fences.h"

#include <fmt/core.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/plans/ownership.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

Revision revision_of(const ClusterView& view, const std::string& head) {
  const auto fence = view.fences.find(head);
  return fence == view.fences.end() ? Revision{} : fence->second.mod_revision;
}

Result<Stored<records::FenceRecord>> fence_of(const ClusterView& view, const HeadBoot& own,
                                              const Victim& victim) {
  const auto fence = view.fences.find(victim.head);
  if (fence != view.fences.end() && fence->second.record.by() == own.head &&
      fence->second.record.incarnation() == victim.incarnation) {
    return fence->second;
  }
  return fail(ErrorCode::kConflict,
              fmt::format("head {}: it has come back, or another head fences it now (look at "
                          "symnas status)",
                          victim.head));
}

FencePlan put(const Stored<records::FenceRecord>& old, records::FenceRecord record) {
  const std::string key = fence_key(record.head());
  kv::Txn txn;
  txn.compares = {kv::mod_revision_is(key, old.mod_revision)};
  txn.success = {kv::put(key, record.SerializeAsString())};
  return {std::move(record), std::move(txn)};
}

bool has_proof(const records::FenceRecord& fence) {
  return fence.state() == records::FENCE_PROVEN || fence.state() == records::FENCE_DONE;
}

}  // namespace

std::string fence_key(const std::string& head) { return kv::keys::kFences + head; }

Owned owned_by(const ClusterView& view, const std::string& head) {
  Owned owned;
  for (const auto& [vnfs, owner] : view.owners) {
    if (owner.record.head() == head) owned.emplace_back(vnfs, owner);
  }
  return owned;
}

tl::unexpected<Error> has_just_booted(const std::string& head) {
  return fail(
      ErrorCode::kConflict,
      fmt::format("head {}: has just booted (repeat the command if that boot is to be fenced)",
                  head));
}

tl::unexpected<Error> has_come_back(const std::string& head) {
  return fail(
      ErrorCode::kConflict,
      fmt::format("head {}: it has come back meanwhile, and ends its old mounts itself", head));
}

Result<FencePlan> plan_fence_begin(const ClusterView& view, const HeadBoot& own,
                                   const records::FenceRecord& wanted, const FenceSeen* seen) {
  const std::string& head = wanted.head();
  SYMNAS_ASSIGN(const auto* victim, find(view.heads, "head", head));
  if (victim->record.incarnation() != wanted.incarnation()) return has_just_booted(head);
  const auto old = view.fences.find(head);
  if (old != view.fences.end() && old->second.record.incarnation() == wanted.incarnation()) {
    const records::FenceRecord& now = old->second.record;
    const bool ours = now.by() == wanted.by() && now.began_ns() == wanted.began_ns();
    if (has_proof(now) || (ours && now.state() == records::FENCE_RUNNING))
      return FencePlan{now, std::nullopt};
  }
  SYMNAS_TRY(check_not_removed(view, own));
  // A head that is being fenced itself fences nobody.
  const auto fenced = view.fences.find(own.head);
  if (fenced != view.fences.end() && forbids_claims(fenced->second.record, own.incarnation))
    return fenced_here(fenced->second.record);
  kv::Txn txn;
  txn.compares = {
      kv::mod_revision_is(kv::keys::kHeads + head, victim->mod_revision),
      kv::mod_revision_is(fence_key(head), seen != nullptr ? seen->fence : revision_of(view, head)),
      kv::mod_revision_is(fence_key(own.head), revision_of(view, own.head)),
      kv::key_absent(kv::keys::kRemoved + own.head)};
  if (seen != nullptr && !seen->key.empty())
    txn.compares.push_back(kv::mod_revision_is(seen->key, seen->revision));
  txn.success = {kv::put(fence_key(head), wanted.SerializeAsString())};
  return FencePlan{wanted, std::move(txn)};
}

Status check_still_fenced(const ClusterView& view, const HeadBoot& own, const Victim& victim) {
  SYMNAS_ASSIGN(const auto fence, fence_of(view, own, victim));
  SYMNAS_ASSIGN(const auto* head, find(view.heads, "head", victim.head));
  if (head->record.incarnation() != victim.incarnation) return has_just_booted(victim.head);
  if (fence.record.state() != records::FENCE_RUNNING) return has_come_back(victim.head);
  return {};
}

// The record keeps saying which boot it is about: as safe, and it is taken over or repeated.
Result<FencePlan> plan_fence_failed(const ClusterView& view, const HeadBoot& own,
                                    const Victim& victim, const std::string& error) {
  SYMNAS_ASSIGN(const auto fence, fence_of(view, own, victim));
  if (fence.record.state() != records::FENCE_RUNNING) return FencePlan{fence.record, std::nullopt};
  records::FenceRecord record = fence.record;
  record.set_state(records::FENCE_FAILED);
  record.set_error(error);
  return put(fence, std::move(record));
}

// The victim may be giving up what it owns just now, so its owner records are compared.
Result<FencePlan> plan_fence_proof(const ClusterView& view, const HeadBoot& own,
                                   const Victim& victim, const std::string& cuts,
                                   const std::string& proof, std::int64_t now_ns) {
  SYMNAS_ASSIGN(const auto fence, fence_of(view, own, victim));
  records::FenceRecord record = fence.record;
  if (record.state() == records::FENCE_PROVEN) return FencePlan{record, std::nullopt};
  if (record.state() != records::FENCE_RUNNING) return has_come_back(victim.head);
  record.set_state(records::FENCE_PROVEN);
  record.set_proven_ns(now_ns);
  record.set_cuts(cuts);
  record.set_proof(proof);
  FencePlan plan = put(fence, std::move(record));
  for (const auto& [vnfs, owner] : owned_by(view, victim.head)) {
    const std::string key = kv::keys::kOwners + vnfs;
    plan.txn->compares.push_back(kv::mod_revision_is(key, owner.mod_revision));
    plan.txn->success.push_back(kv::put(key, owner.record.SerializeAsString()));
  }
  return plan;
}

Result<FenceEnd> plan_fence_end(const ClusterView& view, const Victim& victim) {
  const auto fence = view.fences.find(victim.head);
  if (fence == view.fences.end() || fence->second.record.incarnation() != victim.incarnation ||
      !has_proof(fence->second.record)) {
    return has_come_back(victim.head);
  }
  records::FenceRecord record = fence->second.record;
  if (record.state() == records::FENCE_DONE) return FenceEnd{{record, std::nullopt}, {}};
  record.set_state(records::FENCE_DONE);
  FenceEnd end{put(fence->second, std::move(record)), owned_by(view, victim.head)};
  for (const auto& [vnfs, owner] : end.owned) {
    const std::string key = kv::keys::kOwners + vnfs;
    end.plan.txn->compares.push_back(kv::mod_revision_is(key, owner.mod_revision));
    end.plan.txn->success.push_back(kv::erase(key));
    records::LeftRecord left;
    left.set_epoch(owner.record.epoch());
    end.plan.txn->success.push_back(kv::put(kv::keys::kLeft + vnfs, left.SerializeAsString()));
  }
  return end;
}

}  // namespace symnas::vnfsd
