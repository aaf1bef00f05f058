#include "fsal_cluster/state/mount_claim.h"
#include "fsal_cluster/state/share_table.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "common/kv/keys.h"
#include "common/kv/session.h"
#include "fsal_cluster/schema/counter.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/stamp.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

std::string filesystem_key(const ClaimOptions& options) {
  return kv::keys::kFilesystems + options.filesystem_name;
}

Revision mod_revision_of(const kv::OpResult& read) {
  return read.kvs.empty() ? Revision{0} : read.kvs.front().mod_revision;
}

Result<records::FilesystemRecord> usable_filesystem(const kv::OpResult& read,
                                                    const ClaimOptions& options) {
  const std::string& name = options.filesystem_name;
  if (read.kvs.empty())
    return fail(ErrorCode::kNotFound,
                "filesystem " + name + ": does not exist; see `symnas fs ls`");
  SYMNAS_ASSIGN(records::FilesystemRecord record,
                parse_record<records::FilesystemRecord>(read.kvs.front().value, name));
  if (record.removing())
    return fail(ErrorCode::kNotFound, "filesystem " + name + ": is being removed");
  if (FsId{record.fsid()} != options.fs)
    return fail(ErrorCode::kNotFound, "filesystem " + name +
                                          ": was removed and created again; a restarted instance "
                                          "serves it");
  if (record.schema_version() != kSchemaVersion)
    return fail(ErrorCode::kNotSupported,
                "filesystem " + name + ": schema version " +
                    std::to_string(record.schema_version()) + ", this head knows " +
                    std::to_string(kSchemaVersion) + "; upgrade the head");
  return record;
}

// The filesystem's state at one revision. When there are many mounts, the later pages are newer
// (the compare of mount_claim tells whether a mount was added).
Result<ClaimView> read_view(kv::Store& store, const ClaimOptions& options) {
  const FsId fs = options.fs;
  kv::Txn txn;
  txn.success = {kv::get(filesystem_key(options)),
                 kv::get_range(kv::prefix_range(kv::keys::mounts(fs)), kMountPageKeys),
                 kv::get(kv::keys::kMountIdCounter),
                 kv::get(kv::keys::mount_claim(fs)),
                 kv::get(kv::keys::stamp(fs)),
                 kv::get(kv::keys::solo(fs)),
                 kv::get(kv::keys::want_solo(fs))};
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
  auto& results = read.results;
  SYMNAS_TRY(read_other_mounts(store, fs, results[1]));
  return ClaimView{std::move(results[0]), std::move(results[1]), std::move(results[2]),
                   std::move(results[3]), std::move(results[4]), std::move(results[5]),
                   std::move(results[6])};
}

bool same_claim(const records::MountRecord& a, const records::MountRecord& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// The mount that a claim of ours made although its reply was lost.
const MountEntry* already_claimed(const std::vector<MountEntry>& mounts,
                                  const ClaimOptions& options) {
  const auto found = std::find_if(mounts.begin(), mounts.end(), [&](const MountEntry& mount) {
    return mount.alive() && same_claim(mount.record, options.record);
  });
  return found == mounts.end() ? nullptr : &*found;
}

Result<bool> guards_hold(kv::Store& store, const std::vector<kv::Compare>& guards) {
  kv::Txn txn;
  txn.compares = guards;
  txn.success = {
      kv::get(kv::keys::kMountIdCounter)};  // etcd refuses a transaction without operations
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
  return read.succeeded;
}

std::string solo_value(MountId id) { return std::to_string(id.value()); }

Claim claim_of(const MountEntry& mount, records::FilesystemRecord filesystem,
               std::vector<MountEntry> mounts, const kv::OpResult& solo) {
  Claim claim{mount.id, mount.create_revision, std::move(filesystem), std::move(mounts), {}};
  std::erase_if(claim.ended, [](const MountEntry& entry) { return entry.alive(); });
  const bool sole = !solo.kvs.empty() && solo.kvs.front().value == solo_value(mount.id);
  claim.mode = sole ? Membership::Mode::kSole : Membership::Mode::kShared;
  return claim;
}

// One living mount per VNFS: the locks that it has recorded for its clients have one owner.
Status check_own_vnfs(const std::vector<MountEntry>& mounts, const ClaimOptions& options) {
  for (const MountEntry& mount : mounts) {
    if (!mount.alive() || mount.record.vnfs_id() != options.record.vnfs_id()) continue;
    return fail(ErrorCode::kBusy, "filesystem " + options.filesystem_name + ": mounted by " +
                                      describe(mount) +
                                      ", an instance of the same VNFS that has not ended; let its "
                                      "head end it (`symnas status`)");
  }
  return {};
}

const MountEntry* living_holder(const std::vector<MountEntry>& mounts, const kv::OpResult& solo) {
  if (solo.kvs.empty()) return nullptr;
  const auto found = std::find_if(mounts.begin(), mounts.end(), [&](const MountEntry& mount) {
    return mount.alive() && solo_value(mount.id) == solo.kvs.front().value;
  });
  return found == mounts.end() ? nullptr : &*found;
}

// Asks the sole mount to make room, unless another mount has asked already.
kv::Txn ask_for_room(FsId fs, const ClaimView& view, const ClaimOptions& options, int attempt) {
  kv::Txn txn;
  if (!view.want_solo.kvs.empty()) return txn;
  StampAdvance stamp = advance_stamp(fs, view.stamp, attempt);
  txn.compares = {kv::key_absent(kv::keys::want_solo(fs)),
                  kv::mod_revision_is(kv::keys::solo(fs), mod_revision_of(view.solo)),
                  std::move(stamp.compare)};
  txn.success = {kv::put(kv::keys::want_solo(fs), std::to_string(options.record.epoch())),
                 std::move(stamp.put)};
  return txn;
}

Error no_room(const ClaimOptions& options, const MountEntry& holder) {
  return {ErrorCode::kBusy,
          "filesystem " + options.filesystem_name + ": " + describe(holder) +
              " is alone with it and does not let others in: its head must run and reach etcd, or "
              "be ended (`symnas status`)"};
}

}  // namespace

Result<ClaimPlan> plan_claim(const ClaimView& view, const ClaimOptions& options, int attempt) {
  SYMNAS_ASSIGN(records::FilesystemRecord filesystem, usable_filesystem(view.filesystem, options));
  const FsId fs{filesystem.fsid()};
  SYMNAS_ASSIGN(std::vector<MountEntry> mounts, parse_mounts(fs, view.mounts));
  SYMNAS_TRY(check_own_vnfs(mounts, options));
  ClaimPlan plan;
  if (const MountEntry* holder = living_holder(mounts, view.solo)) {
    plan.waits_for = *holder;
    plan.txn = ask_for_room(fs, view, options, attempt);
    return plan;
  }
  SYMNAS_ASSIGN(const Counter counter,
                parse_counter(kv::keys::kMountIdCounter, view.mount_counter));
  const MountId id{counter.next};
  const bool alone = first_alive(mounts) == nullptr;
  std::erase_if(mounts, [](const MountEntry& entry) { return entry.alive(); });
  plan.claim = Claim{id, Revision{0}, std::move(filesystem), std::move(mounts),
                     alone ? Membership::Mode::kSole : Membership::Mode::kShared};
  StampAdvance stamp = advance_stamp(fs, view.stamp, attempt);
  plan.txn.compares = options.guards;
  plan.txn.compares.push_back(
      kv::mod_revision_is(filesystem_key(options), mod_revision_of(view.filesystem)));
  plan.txn.compares.push_back(
      kv::mod_revision_is(kv::keys::mount_claim(fs), mod_revision_of(view.claim)));
  plan.txn.compares.push_back(counter_unchanged(kv::keys::kMountIdCounter, counter));
  // `solo` is absent here, or names a mount that has ended.
  plan.txn.compares.push_back(kv::mod_revision_is(kv::keys::solo(fs), mod_revision_of(view.solo)));
  plan.txn.compares.push_back(std::move(stamp.compare));
  plan.txn.success = {
      kv::put(kv::keys::mount(fs, id), options.record.SerializeAsString()),
      kv::put(kv::keys::mount_claim(fs), std::to_string(id.value())),
      counter_advanced(kv::keys::kMountIdCounter, counter, 1),
      std::move(stamp.put),
      // Put before the mount's first open: its clients may reclaim opens that no other record shows
      // (shares.md).
      kv::put(kv::keys::share(fs, kNoFile, id),
              encode_share({.mode = {}, .vnfs = options.record.vnfs()})),
      alone ? kv::put(kv::keys::solo(fs), solo_value(id)) : kv::erase(kv::keys::solo(fs)),
  };
  for (kv::Op& put : kv::arm_slots(kv::keys::mount_slots(fs, id), kMountSession))
    plan.txn.success.push_back(std::move(put));
  return plan;
}

Result<Claim> claim_mount(kv::Store& store, const ClaimOptions& options, std::int64_t deadline_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
  Error last{ErrorCode::kConflict, ""};
  int conflicts = 0;  // rounds of waiting do not count: the stamp must not run ahead for them
  while (Clock::now() < deadline) {
    SYMNAS_ASSIGN(const ClaimView view, read_view(store, options));
    SYMNAS_ASSIGN(std::vector<MountEntry> mounts, parse_mounts(options.fs, view.mounts));
    if (const MountEntry* mine = already_claimed(mounts, options)) {
      SYMNAS_ASSIGN(records::FilesystemRecord filesystem,
                    usable_filesystem(view.filesystem, options));
      return claim_of(*mine, std::move(filesystem), std::move(mounts), view.solo);
    }
    if (last.code == ErrorCode::kNoSpace) return tl::unexpected<Error>(last);
    SYMNAS_ASSIGN(ClaimPlan plan, plan_claim(view, options, conflicts));
    if (plan.waits_for) {
      if (!plan.txn.success.empty()) {
        const auto asked = kv::txn_blocking(store, std::move(plan.txn), kAdminDeadlineMs);
        if (!asked && !kv::maybe_executed(asked.error()))
          return tl::unexpected<Error>(asked.error());
        ++conflicts;
      }
      last = no_room(options, *plan.waits_for);
      std::this_thread::sleep_for(std::chrono::milliseconds(kSoloWaitPollMs));
      continue;
    }
    auto done = kv::txn_blocking(store, std::move(plan.txn), kAdminDeadlineMs);
    if (done && done->succeeded) {
      plan.claim.create_revision = done->revision;
      return std::move(plan.claim);
    }
    if (!done && !kv::maybe_executed(done.error())) return tl::unexpected<Error>(done.error());
    ++conflicts;
    last =
        done ? Error{ErrorCode::kConflict, "others changed what the claim compares"} : done.error();
    SYMNAS_ASSIGN(const bool mine_still, guards_hold(store, options.guards));
    if (!mine_still)
      return fail(ErrorCode::kEnded, "filesystem " + options.filesystem_name +
                                         ": this instance of " + options.record.vnfs() +
                                         " is not the owner any more");
  }
  return fail(last.code, "filesystem " + options.filesystem_name + ": not claimed in " +
                             std::to_string(deadline_ms) + " ms: " + last.message);
}

}  // namespace symnas::fs
