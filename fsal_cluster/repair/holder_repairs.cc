#include <fmt/core.h>

#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repairs.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;
using check::Fault;

MountId mount_of(const Draft& draft) { return MountId{draft.damage().other}; }

// The mount does not exist; ids are never used again.
Status rely_no_mount(Draft& draft) {
  SYMNAS_ASSIGN(const auto record, draft.rely(keys::mount(draft.fs(), mount_of(draft))));
  if (record) return fail(ErrorCode::kCorrupt, "the mount is there: look again");
  return {};
}

Result<Step> erase_of_mount(Draft draft, std::string key) {
  SYMNAS_TRY(rely_no_mount(draft));
  SYMNAS_TRY(draft.erase(key));
  return std::move(draft).repair(Order::kAny, "erases it: the mount is gone for ever");
}

// Contents may have changed under the token: the file gets times of now, as by a recovery.
Result<Step> token_left(Draft draft) {
  const Ino ino = draft.finding().ino;
  const std::string key = keys::token(draft.fs(), ino, mount_of(draft));
  SYMNAS_ASSIGN(const auto token, draft.rely_record<records::TokenRecord>(key, "the token"));
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (token && token->wrote() && inode) {
    SYMNAS_TRY(draft.put_inode(ino, *inode));
    draft.changes_file(ino);
  }
  return erase_of_mount(std::move(draft), key);
}

Result<Step> slots_left(Draft draft) {
  SYMNAS_TRY(rely_no_mount(draft));
  SYMNAS_ASSIGN(
      const auto slots,
      draft.snapshot().range(kv::prefix_range(keys::mount_slots(draft.fs(), mount_of(draft))),
                             static_cast<std::int64_t>(kStepKeysMax - 10)));
  for (const kv::KeyValue& slot : slots) SYMNAS_TRY(draft.erase(slot.key));
  return std::move(draft).repair(Order::kAny, "erases its slots: the mount is gone for ever");
}

Result<Step> token_of_nothing(Draft draft) {
  const Ino ino = draft.finding().ino;
  if (const MountEntry* mount = draft.facts().alive(mount_of(draft)); mount != nullptr)
    return std::move(draft).refuse(
        fmt::format("{} is alive and may count on it: move its VNFS (symnas vnfs rehost {}), which "
                    "gives all tokens back",
                    describe(*mount), mount->record.vnfs()));
  SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), ino)));
  if (inode) return std::move(draft).later("look again: the file is there");
  std::string key = keys::token(draft.fs(), ino, mount_of(draft));
  return erase_of_mount(std::move(draft), std::move(key));
}

Result<Step> want_of_nothing(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), ino)));
  if (inode) return std::move(draft).later("look again: the file is there");
  SYMNAS_TRY(draft.erase(keys::want(draft.fs(), ino)));
  return std::move(draft).repair(Order::kAny, "erases it: nobody can give a token of it");
}

Result<Step> two_tokens(Draft draft) {
  if (!draft.facts().mount_recorded(mount_of(draft)))
    return std::move(draft).later("that mount does not exist: see leftover");
  return std::move(draft).refuse(
      "both mounts may have written: which of them is right cannot be proved; stop both VNFSs "
      "(symnas vnfs stop) and start them again, then compare the file with a backup");
}

// --- groups

std::string group_key(const Draft& draft) {
  return keys::group_owner(draft.fs(), static_cast<std::uint32_t>(draft.damage().value));
}

Result<Step> make_nobodys(Draft draft) {
  SYMNAS_TRY(draft.put(group_key(draft), records::GroupOwner().SerializeAsString()));
  return std::move(draft).repair(Order::kAny,
                                 "makes the group nobody's: the next one who needs "
                                 "space claims it and reads its reverse map");
}

Result<Step> group_left(Draft draft) {
  SYMNAS_TRY(rely_no_mount(draft));
  SYMNAS_TRY(draft.rely_mounts());
  SYMNAS_ASSIGN(const auto owner, draft.snapshot().get(group_key(draft)));
  std::string may_own;
  for (const MountEntry& mount : draft.facts().mounts) {
    // A mount that was claimed after the record was written has read it.
    if (!mount.alive() || !owner || mount.create_revision > owner->mod_revision) continue;
    may_own += (may_own.empty() ? "" : ", ") + describe(mount);
  }
  if (!may_own.empty())
    return std::move(draft).refuse(
        fmt::format("it may have been the group of {}, which would still allocate there: move "
                    "these VNFSs (symnas vnfs rehost), then run the repair again",
                    may_own));
  return make_nobodys(std::move(draft));
}

Result<Step> group_missing(Draft draft) {
  SYMNAS_TRY(draft.rely_mounts());
  if (const MountEntry* mount = draft.facts().any_alive(); mount != nullptr)
    return std::move(draft).refuse(
        fmt::format("a mount that is alive ({}) may have owned the group and still allocate there: "
                    "stop all VNFSs that export the filesystem, then run the repair again",
                    describe(*mount)));
  return make_nobodys(std::move(draft));
}

Result<Step> group_off_volume(Draft draft) {
  if (draft.facts().alive(mount_of(draft)) != nullptr)
    return std::move(draft).refuse(
        "its owner is alive: if the volume was grown lately, look again; else move its VNFS "
        "(symnas vnfs rehost), then run the repair again");
  SYMNAS_TRY(draft.rely_mounts());
  SYMNAS_TRY(draft.erase(group_key(draft)));
  return std::move(draft).repair(Order::kAny, "erases the record of a group that does not exist");
}

// --- locks

// The VNFS's mount keeps its locks in memory: it is ordered to clear the lock, as `lock clear`
// does. Without a mount the record is erased.
Result<Step> clear_lock(Draft draft) {
  const std::string table = keys::locks(draft.fs());
  std::string rest;
  append_be64(rest, draft.finding().ino.value());
  rest += draft.damage().name;
  const std::string key = table + rest;
  SYMNAS_ASSIGN(const auto lock, draft.rely_record<records::LockRecord>(key, "the lock record"));
  if (!lock) return std::move(draft).later("look again: it is gone");
  if (draft.damage().fault == Fault::kLockOfNoVnfs) {
    SYMNAS_ASSIGN(const auto vnfs, draft.rely(keys::kVnfs + lock->vnfs()));
    if (vnfs) return std::move(draft).later("look again: the VNFS is there");
  } else if (draft.damage().fault == Fault::kLockOfNothing) {
    SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), draft.finding().ino)));
    if (inode) return std::move(draft).later("look again: the file is there");
  }
  SYMNAS_TRY(draft.rely_mounts());
  const MountEntry* mount = draft.facts().alive_of_vnfs(lock->vnfs());
  if (mount == nullptr) {
    SYMNAS_TRY(draft.erase(key));
    return std::move(draft).repair(Order::kAny, "erases it: nobody can use the lock");
  }
  SYMNAS_ASSIGN(const auto record, draft.snapshot().get(key));
  // A mount that is younger than the record has read it. An older one may not know of it, and obeys
  // no order about what it does not know.
  const std::string order_key = keys::lock_orders(draft.fs()) + rest;
  SYMNAS_ASSIGN(const auto given, draft.rely(order_key));
  if (given || mount->create_revision < record->mod_revision) {
    std::string why = fmt::format(
        "{} has it in memory: release it (symnas lock clear --fs {} --ino {}); if it stays, move "
        "the VNFS (symnas vnfs rehost {}), then run the repair again",
        describe(*mount), draft.facts().report->filesystem, draft.finding().ino.value(),
        mount->record.vnfs());
    return std::move(draft).refuse(std::move(why));
  }
  records::LockOrder order;
  order.set_kind(records::LockOrder::CLEAR);
  order.set_lock_revision(record->mod_revision.value());
  order.set_ordered_ns(draft.facts().wall_ns);
  order.set_by("fs check --repair");
  SYMNAS_TRY(draft.put(order_key, order.SerializeAsString()));
  return std::move(draft).repair(Order::kAny,
                                 fmt::format("orders {} to release the lock", describe(*mount)));
}

}  // namespace

Result<Step> repair_holder(Draft draft) {
  const FsId fs = draft.fs();
  const Ino ino = draft.finding().ino;
  const MountId mount = mount_of(draft);
  switch (draft.damage().fault) {
    case Fault::kTokenLeft: return token_left(std::move(draft));
    case Fault::kHeartbeatLeft: return erase_of_mount(std::move(draft), keys::heartbeat(fs, mount));
    case Fault::kHoldLeft: return erase_of_mount(std::move(draft), keys::hold(fs, ino, mount));
    case Fault::kSlotLeft: return slots_left(std::move(draft));
    case Fault::kEndLeft: return erase_of_mount(std::move(draft), keys::mount_ended(fs, mount));
    case Fault::kMountEnded:
    case Fault::kHeldByEnded:
      return std::move(draft).refuse(
          "the mounts that are alive recover it: look again in a minute; if it stays, move a VNFS "
          "of the filesystem (symnas vnfs rehost): its next mount recovers it before it serves");
    case Fault::kTokenOfNothing: return token_of_nothing(std::move(draft));
    case Fault::kWantOfNothing: return want_of_nothing(std::move(draft));
    case Fault::kTwoTokens: return two_tokens(std::move(draft));
    case Fault::kGroupLeft: return group_left(std::move(draft));
    case Fault::kGroupMissing: return group_missing(std::move(draft));
    case Fault::kGroupOffVolume: return group_off_volume(std::move(draft));
    case Fault::kLockOfNothing:
    case Fault::kLockOfNoVnfs:
    case Fault::kLockEmpty: return clear_lock(std::move(draft));
    case Fault::kLockKey:
    case Fault::kLockConflict:
      return std::move(draft).refuse(
          "which client is right cannot be proved: release the lock of one of them (symnas lock "
          "clear)");
    case Fault::kUnreadableLock:
      return std::move(draft).refuse(
          "what its owner has locked is not known: he counts as holding all that nobody else has, "
          "until he has unlocked all of it or it is released (symnas lock clear)");
    default: return std::move(draft).refuse("no repair is known");
  }
}

}  // namespace symnas::fs::repair
