// Agent: ownership of VNFSs and the local fence, for the supervisors.
#include <algorithm>
#include <future>
#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "fsal_cluster/state/mount_end.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
namespace {

Error owned_elsewhere(const std::string& vnfs, const std::string& head) {
  return {ErrorCode::kBusy,
          fmt::format("vnfs {}: head {} owns it (stop it there first: symnas vnfs stop {})", vnfs,
                      head, vnfs)};
}

// No instance of the VNFS has had a later epoch: its last owner has said which one it had when it
// gave the VNFS up, or whoever fenced that has. Whoever claims in between erases both.
bool came_after_all(const ClusterView& view, const std::string& vnfs, Epoch epoch) {
  if (view.owners.contains(vnfs)) return false;
  const auto move = view.moves.find(vnfs);
  const auto left = view.left.find(vnfs);
  const std::uint64_t last =
      std::max(move == view.moves.end() ? 0 : move->second.record.departure().epoch(),
               left == view.left.end() ? 0 : left->second.record.epoch());
  return last != 0 && last < epoch.value();
}

fs::Filesystems filesystems_of(const ClusterView& view) {
  fs::Filesystems out;
  for (const auto& [name, filesystem] : view.filesystems)
    out.emplace(name, FsId{filesystem.record.fsid()});
  return out;
}

}  // namespace

// Nobody else gets the epoch: it is taken although it may never be used.
Result<instance::InstancePlan> Agent::prepare(const std::string& vnfs) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  SYMNAS_TRY(check_registered(view, vnfs));
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, config_, vnfs));
  kv::Txn txn;
  SYMNAS_ASSIGN(const std::uint64_t epoch,
                take_from_counter(view, kv::keys::kEpochCounter, 0xffffffff, txn));
  SYMNAS_ASSIGN(const kv::TxnResult taken,
                kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
  if (!taken.succeeded) {
    return fail(ErrorCode::kConflict, fmt::format("vnfs {}: records changed: again", vnfs));
  }
  plan.epoch = Epoch(epoch);
  plan.incarnation = incarnation_;
  plan.standby = true;
  plan.is_awaited = falling_to(view, config_.head_name).contains(vnfs);
  plan.luns = luns_.paths();
  return plan;
}

// The clients wait: what the watch has shown is tried first. The transaction compares what the plan
// is made from.
Result<instance::InstancePlan> Agent::claim(const std::string& vnfs,
                                            std::optional<Epoch> prepared) {
  if (const auto seen = copy_.view(); seen && *seen) {
    auto plan = claim_from(**seen, vnfs, prepared);
    if (plan || kv::maybe_executed(plan.error())) return plan;
  }
  SYMNAS_ASSIGN(const ClusterView view, fresh_view());
  return claim_from(view, vnfs, prepared);
}

Result<instance::InstancePlan> Agent::claim_from(const ClusterView& view, const std::string& vnfs,
                                                 std::optional<Epoch> prepared) {
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  if (stored->record.stopped()) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: stopped by the administrator", vnfs));
  }
  SYMNAS_TRY(check_not_removed(view));
  const auto fence = view.fences.find(config_.head_name);
  Revision fence_revision;
  if (fence != view.fences.end()) {
    if (forbids_claims(fence->second.record, incarnation_))
      return fenced_here(fence->second.record);
    fence_revision = fence->second.mod_revision;
  }
  SYMNAS_TRY(check_registered(view, vnfs));
  const auto owner = view.owners.find(vnfs);
  Revision owner_revision;
  if (owner != view.owners.end()) {
    if (owner->second.record.head() != config_.head_name) {
      return tl::unexpected<Error>(owned_elsewhere(vnfs, owner->second.record.head()));
    }
    owner_revision = owner->second.mod_revision;
  } else if (std::ranges::find(stored->record.heads(), config_.head_name) ==
             stored->record.heads().end()) {
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: {} is none of its heads", vnfs, config_.head_name));
  }
  const ha::Facts facts = facts_of(view);
  const std::string& target = facts.vnfses.at(vnfs).target;
  const bool target_serves = !target.empty() && facts.heads.at(target) == ha::HeadState::kServing;
  if (owner == view.owners.end() && target_serves && target != config_.head_name) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: is on its way to {}", vnfs, target));
  }
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, config_, vnfs));
  kv::Txn txn;
  std::uint64_t epoch = 0;
  if (prepared && came_after_all(view, vnfs, *prepared)) {
    epoch = prepared->value();
  } else {
    SYMNAS_ASSIGN(epoch, take_from_counter(view, kv::keys::kEpochCounter, 0xffffffff, txn));
  }
  records::OwnerRecord record;
  record.set_head(config_.head_name);
  record.set_incarnation(incarnation_);
  record.set_epoch(epoch);
  record.set_vnfs_id(stored->record.vnfs_id());
  record.set_claimed_ns(clock_.wall_ns());
  txn.compares.push_back(kv::mod_revision_is(plan.owner_key, owner_revision));
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kVnfs + vnfs, stored->mod_revision));
  // Whoever edits them later sees the owner, and waits for it.
  txn.compares.push_back(unchanged_since(view, kv::keys::kExports));
  txn.compares.push_back(unchanged_since(view, kv::keys::kNetworks));
  compare_admission(view, txn);
  txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kFences + config_.head_name, fence_revision));
  // Whether its last owner had an earlier epoch than a standby is true of this one only.
  const auto left = view.left.find(vnfs);
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kLeft + vnfs, left == view.left.end() ? Revision{} : left->second.mod_revision));
  txn.success.push_back(kv::put(plan.owner_key, record.SerializeAsString()));
  txn.success.push_back(kv::erase(kv::keys::kLeft + vnfs));
  const auto move = view.moves.find(vnfs);
  const bool ordered = move != view.moves.end();
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kMoves + vnfs,
                                             ordered ? move->second.mod_revision : Revision{}));
  if (ordered && owner == view.owners.end() && move->second.record.to() != config_.head_name) {
    // Its head was lost on the way, and still is: the order is over.
    const std::string& to = move->second.record.to();
    const auto head = view.heads.find(to);
    const auto lost = view.fences.find(to);
    txn.compares.push_back(kv::mod_revision_is(
        kv::keys::kHeads + to, head == view.heads.end() ? Revision{} : head->second.mod_revision));
    txn.compares.push_back(
        kv::mod_revision_is(kv::keys::kFences + to,
                            lost == view.fences.end() ? Revision{} : lost->second.mod_revision));
    txn.success.push_back(kv::erase(kv::keys::kMoves + vnfs));
  }
  const auto result = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
  if (result && !result->succeeded) {
    return fail(ErrorCode::kConflict,
                fmt::format("vnfs {}: records changed: claiming again", vnfs));
  }
  if (result) {
    plan.owner_mod_revision = result->revision;
  } else if (kv::maybe_executed(result.error())) {
    // The epoch is taken once only: a record that carries it is ours. (If the transaction comes to
    // be later, the next claim supersedes it; this instance's epoch was never used.)
    SYMNAS_ASSIGN(const ClusterView now, read_view(store_, kStoreDeadlineMs));
    const auto mine = now.owners.find(vnfs);
    if (mine == now.owners.end() || mine->second.record.epoch() != epoch ||
        mine->second.record.head() != config_.head_name) {
      return tl::unexpected<Error>(result.error());
    }
    plan.owner_mod_revision = mine->second.mod_revision;
  } else {
    return tl::unexpected<Error>(result.error());
  }
  plan.epoch = Epoch(epoch);
  plan.incarnation = incarnation_;
  plan.luns = luns_.paths();
  copy_.must_show(plan.owner_mod_revision);
  log::info("vnfs {}: claimed with epoch {}", vnfs, epoch);
  return plan;
}

Result<instance::InstancePlan> Agent::plan_of(const std::string& vnfs,
                                              const instance::InstanceState& state) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, config_, vnfs));
  plan.epoch = state.epoch;
  plan.incarnation = state.incarnation;
  plan.owner_mod_revision = state.owner_mod_revision;
  plan.luns = luns_.paths();
  return plan;
}

// What the last instance of this boot was told of; nothing runs of one before it.
Result<std::vector<instance::LunIdentity>> Agent::opened_luns(const std::string& vnfs) const {
  const std::string path = instance::paths_for(config_, vnfs).state_file;
  const auto text = instance::read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return std::vector<instance::LunIdentity>{};
  }
  if (!text) return tl::unexpected<Error>(text.error());
  auto state = instance::parse_state(*text);
  if (!state) {
    return fail(state.error().code,
                fmt::format("vnfs {}: {}: {}, so it is not known on what its fence has to prove "
                            "(reboot this head: that does)",
                            vnfs, path, state.error().message));
  }
  if (state->incarnation != incarnation_) return std::vector<instance::LunIdentity>{};
  return std::move(state->luns);
}

bool Agent::was_left_here(const std::string& vnfs) const {
  const auto text = instance::read_file(instance::paths_for(config_, vnfs).state_file);
  const auto state = text ? instance::parse_state(*text) : tl::unexpected<Error>(text.error());
  return state && state->incarnation == incarnation_;
}

// Read after the process was reaped: what it may have come to use is in there. Which filesystems
// there are is known but for the newest: their mounts are read at the same time.
Status Agent::fence(const std::string& vnfs) {
  fs::Filesystems known;
  if (const auto seen = copy_.view(); seen && *seen) known = filesystems_of(**seen);
  auto read = std::async(std::launch::async, [&] { return fs::living_mounts(store_, known); });
  SYMNAS_ASSIGN(const ClusterView view, fresh_view());
  auto mounts = read.get();
  if (const fs::Filesystems now = filesystems_of(view); now != known)
    mounts = fs::living_mounts(store_, now);
  const auto owner = view.owners.find(vnfs);
  // Nobody owns it: the last owner gave it up after its fence.
  if (owner == view.owners.end()) return {};
  const records::OwnerRecord& record = owner->second.record;
  // What this head had of it ended by its own release, or was proved to have ended.
  if (record.head() != config_.head_name || !check_not_removed(view)) return {};
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  const VnfsId id(record.vnfs_id());
  // What is to be ended is proved to have ended, whatever the records say of exports by now.
  SYMNAS_TRY(mounts);
  const auto living = fs::mounts_of(std::move(*mounts), id, Epoch(record.epoch()));
  std::set<std::string> volumes;
  for (std::string& volume : volumes_of_vnfs(view, stored->record))
    volumes.insert(std::move(volume));
  for (const fs::MountOf& mount : living) {
    SYMNAS_ASSIGN(const auto* filesystem, find(view.filesystems, "fs", mount.filesystem));
    volumes.insert(filesystem->record.volume());
  }
  std::vector<const cvm::records::LunRecord*> luns;
  for (const std::string& volume : volumes) {
    for (const auto* lun : luns_of_volume(view, volume)) luns.push_back(lun);
  }
  const auto opened = opened_luns(vnfs);
  if (!opened) return tl::unexpected<Error>(opened.error());
  SYMNAS_TRY(luns_.obtain_bytes(luns, *opened, id, instance::kFenceTryMs));
  const fs::EndProof proof{
      config_.head_name, fmt::format("killed, reaped, OFD locks obtained on {} LUNs", luns.size())};
  for (const fs::MountOf& mount : living) {
    SYMNAS_TRY(fs::end_mount(store_, clock_, mount.fs, mount.mount.id, proof));
    log::info("vnfs {}: fenced: ended {} of filesystem {}", vnfs, fs::describe(mount.mount),
              mount.filesystem);
  }
  return {};
}

}  // namespace symnas::vnfsd::daemon
