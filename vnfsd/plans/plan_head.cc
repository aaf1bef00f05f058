#include <algorithm>

#include <fmt/format.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "common/kv/state_keys.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> busy(const std::string& head, std::string_view why) {
  return fail(ErrorCode::kBusy, fmt::format("head {}: {}", head, why));
}

// Another decider brings nothing there without an order, which needs the head: it is not drained.
Status check_not_decided(const ClusterView& view, const std::string& name) {
  for (const auto& [vnfs, stored] : view.vnfses) {
    if (stored.record.decided_head() != name || !is_decision_valid(view, stored.record)) continue;
    return check_builtin_decides(view, fmt::format("head {}: is to serve VNFS {}", name, vnfs),
                                 kDrainInstead);
  }
  return {};
}

// Nothing of it serves, is about to, or may be brought to without its being asked.
Status check_idle(const ClusterView& view, const records::HeadRecord& head) {
  const std::string& name = head.name();
  for (const auto& [vnfs, owner] : view.owners) {
    if (owner.record.head() != name) continue;
    SYMNAS_TRY(check_builtin_decides(
        view,
        fmt::format("head {}: has VNFS {} (if it is lost for ever: symnas head fence {} --yes)",
                    name, vnfs, name),
        kDrainInstead));
    return busy(name, fmt::format("has VNFS {} (symnas head drain {} --wait; if it is lost for "
                                  "ever: symnas head fence {} --yes)",
                                  vnfs, name, name));
  }
  for (const auto& [vnfs, move] : view.moves) {
    if (move.record.to() == name)
      return busy(name, fmt::format("VNFS {} is being moved to it (symnas vnfs status)", vnfs));
  }
  const auto fence = view.fences.find(name);
  if (fence != view.fences.end() && forbids_claims(fence->second.record, head.incarnation())) {
    if (fence->second.record.state() == records::FENCE_DONE) return {};
    return busy(name, "its fence is not done (symnas status)");
  }
  if (head.draining() || head.incarnation().empty()) return {};
  if (view.cluster.record.decider() != records::DECIDER_BUILTIN)
    return check_not_decided(view, name);
  return busy(name,
              fmt::format("is neither drained nor fenced (symnas head drain {} --wait)", name));
}

// Where LUNs were imported from is known to whoever stays.
void pass_on_lun_paths(const ClusterView& view, const records::HeadRecord& from, Change& change) {
  for (const auto& [name, head] : view.heads) {
    if (name == from.name()) continue;
    records::HeadRecord record = head.record;
    for (const std::string& path : from.lun_paths()) {
      const auto& known = record.lun_paths();
      if (std::find(known.begin(), known.end(), path) == known.end()) record.add_lun_paths(path);
    }
    if (record.lun_paths_size() == head.record.lun_paths_size()) return;
    change.txn.compares.push_back(kv::mod_revision_is(kv::keys::kHeads + name, head.mod_revision));
    change.txn.success.push_back(kv::put(kv::keys::kHeads + name, record.SerializeAsString()));
    return;
  }
}

// No VNFS moves there any more.
Status take_off_lists(const ClusterView& view, const std::string& name, TakeOff take_off,
                      Change& change) {
  for (const auto& [vnfs, stored] : view.vnfses) {
    records::VnfsRecord record = stored.record;
    auto& heads = *record.mutable_heads();
    const auto it = std::find(heads.begin(), heads.end(), name);
    if (it == heads.end()) continue;
    heads.erase(it);
    if (heads.empty()) {
      return busy(name, fmt::format("is the only head of VNFS {} (symnas vnfs set {} --heads)",
                                    vnfs, vnfs));
    }
    if (take_off == TakeOff::kNo) {
      return busy(name, fmt::format("VNFS {} may move to it (--yes takes it off the heads of every "
                                    "VNFS, or symnas vnfs set {} --heads)",
                                    vnfs, vnfs));
    }
    if (record.pinned() == name) record.clear_pinned();
    change.what += fmt::format("\nvnfs {}: its heads are {}", vnfs, fmt::join(heads, ","));
    change.txn.success.push_back(kv::put(kv::keys::kVnfs + vnfs, record.SerializeAsString()));
  }
  return {};
}

}  // namespace

Result<Change> plan_head_remove(const ClusterView& view, const std::string& name, TakeOff take_off,
                                std::int64_t now_ns) {
  SYMNAS_ASSIGN(const auto* head, find(view.heads, "head", name));
  if (view.heads.size() == 1) return busy(name, "the only one of the cluster");
  SYMNAS_TRY(check_idle(view, head->record));
  Change change{fmt::format("head {}: removed", name), {}};
  SYMNAS_TRY(take_off_lists(view, name, take_off, change));
  pass_on_lun_paths(view, head->record, change);
  records::RemovedHeadRecord removed;
  removed.set_name(name);
  removed.set_removed_ns(now_ns);
  // The head's agent changes the head's record without the cluster's; claims and fences compare the
  // new key.
  change.txn.compares.push_back(kv::mod_revision_is(kv::keys::kHeads + name, head->mod_revision));
  for (const auto& [vnfs, stored] : view.vnfses) {
    const auto owner = view.owners.find(vnfs);
    change.txn.compares.push_back(
        kv::mod_revision_is(kv::keys::kOwners + vnfs,
                            owner == view.owners.end() ? Revision{} : owner->second.mod_revision));
  }
  change.txn.success.push_back(kv::erase(kv::keys::kHeads + name));
  change.txn.success.push_back(kv::erase(kv::keys::kAdmissions + name));
  change.txn.success.push_back(kv::erase(kv::keys::kHeadStates + name));
  const auto fence = view.fences.find(name);
  if (fence != view.fences.end() && fence->second.record.state() != records::FENCE_FAILED) {
    // It stays: that boot is turned away under this name and any other; the next one deletes it.
    records::FencedBootRecord boot;
    boot.set_head(name);
    boot.set_removed_ns(now_ns);
    change.txn.success.push_back(kv::put(
        kv::keys::kFencedBoots + fence->second.record.incarnation(), boot.SerializeAsString()));
  }
  change.txn.success.push_back(kv::put(kv::keys::kRemoved + name, removed.SerializeAsString()));
  return change;
}

}  // namespace symnas::vnfsd
