#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "common/kv/xattr_keys.h"
#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repairs.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;
using check::Fault;

Result<Step> edit_inode(Draft draft, std::string text,
                        const std::function<void(records::Inode&)>& change) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  change(*inode);
  SYMNAS_TRY(draft.put_inode(ino, *inode));
  return std::move(draft).repair(Order::kCounts, std::move(text));
}

// The type that a name of the inode says.
Result<Step> unknown_type(Draft draft) {
  const Ino ino = draft.finding().ino;
  const auto place = draft.facts().report->names.find(ino.value());
  std::uint32_t type = 0;
  if (place != draft.facts().report->names.end()) {
    const std::string key =
        keys::dirent_bucket(draft.fs(), place->second.directory, place->second.hash);
    SYMNAS_ASSIGN(const auto bucket, draft.rely_record<records::DirentBucket>(key, "its name"));
    if (bucket) {
      for (const records::Dirent& entry : bucket->entries())
        if (entry.ino() == ino.value()) type = entry.type();
    }
  }
  if (type < static_cast<std::uint32_t>(FileType::kRegular) ||
      type > static_cast<std::uint32_t>(FileType::kSocket))
    return std::move(draft).refuse(
        "no name of it tells what it is: restore its record from an etcd snapshot");
  return edit_inode(std::move(draft), fmt::format("sets the type to {}, as its name says", type),
                    [type](records::Inode& inode) { inode.set_type(type); });
}

Result<Step> symlink_size(Draft draft) {
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(draft.finding().ino));
  const std::size_t bytes = inode ? inode->symlink_target().size() : 0;
  if (bytes == 0 || bytes > kSymlinkBytesMax)
    return std::move(draft).refuse(
        "its target is none that a symlink may have: remove it, and make it again");
  return edit_inode(std::move(draft), fmt::format("sets its size to {}", bytes),
                    [bytes](records::Inode& i) { i.set_size_bytes(bytes); });
}

Result<Step> ctime_ahead(Draft draft) {
  SYMNAS_ASSIGN(const auto stamp, draft.snapshot().get(keys::stamp(draft.fs())));
  if (!stamp || stamp->value.size() != 8)
    return std::move(draft).later("the stamp is repaired first");
  const auto time_ns = static_cast<std::int64_t>(read_be64(stamp->value, 0));
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(draft.finding().ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  constexpr std::int64_t kMinuteNs = 60'000'000'000;
  if (inode->ctime_ns() <= draft.facts().wall_ns + kMinuteNs) {
    draft.puts_stamp();
    return std::move(draft).repair(Order::kAny, "advances the filesystem's time, which lags");
  }
  return edit_inode(std::move(draft), "sets its ctime to the filesystem's time",
                    [time_ns](records::Inode& i) { i.set_ctime_ns(time_ns); });
}

Result<Step> times_of_no_directory(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_TRY(draft.rely_inode(ino));
  SYMNAS_TRY(draft.erase(keys::directory_times(draft.fs(), ino)));
  return std::move(draft).repair(Order::kAny, "erases them: nobody reads them");
}

Result<Step> times_of_nothing(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), ino)));
  if (ino == kRootIno || inode || draft.facts().has(ino, Fault::kNamesWithoutDirectory))
    return std::move(draft).later("the directory is made anew");
  SYMNAS_TRY(draft.erase(keys::directory_times(draft.fs(), ino)));
  return std::move(draft).repair(Order::kFrees, "erases them");
}

Result<Step> unreadable_times(Draft draft) {
  draft.changes_directory(draft.finding().ino);
  return std::move(draft).repair(Order::kAny, "puts the time of now: change attributes only grow");
}

// --- counters

// Also of inodes that are gone: every record that leads to one is a finding. What lies beyond every
// number that may have been given is none.
std::uint64_t highest_ino(const Draft& draft) {
  std::uint64_t highest = draft.facts().report->highest_ino;
  const std::uint64_t bound = highest + kInoJumpMax;
  for (const check::Finding& finding : draft.facts().report->findings) {
    const bool named = finding.damage.fault == Fault::kNameOfNothing;
    for (const std::uint64_t ino : {finding.ino.value(), named ? finding.damage.other : 0})
      if (ino <= bound) highest = std::max(highest, ino);
  }
  return highest;
}

Result<Step> ino_counter(Draft draft) {
  if (!draft.facts().all_known) return std::move(draft).later("not all findings are known yet");
  const std::string key = keys::next_ino(draft.fs());
  const std::uint64_t next = std::max(highest_ino(draft) + 1, kFirstIno) + kCounterRoom;
  SYMNAS_TRY(draft.put(key, std::to_string(next)));
  return std::move(draft).repair(
      Order::kAny, fmt::format("sets the counter of inode numbers to {}, with room for numbers "
                               "that mounts may have taken",
                               next));
}

Result<Step> mount_counter(Draft draft) {
  std::uint64_t highest = 0;
  for (const check::Finding* finding : draft.facts().by.at(Fault::kMountCounter))
    highest = std::max(highest, finding->damage.value);
  const std::uint64_t next = draft.facts().report->context.next_mount;
  if (draft.damage().value == 0 || highest > next + kCounterRoom)
    return std::move(draft).refuse(
        "it cannot be the id of a mount, and its true one is not known: clients' handles of the "
        "file name it; restore its record from an etcd snapshot, or copy the file and remove it");
  SYMNAS_TRY(draft.put(keys::kMountIdCounter, std::to_string(highest + 1)));
  return std::move(draft).repair(
      Order::kAny,
      fmt::format("sets the counter of mounts to {}: no id is given twice", highest + 1));
}

Result<Step> mount_claim(Draft draft) {
  std::uint64_t newest = 0;
  for (const MountEntry& mount : draft.facts().mounts) newest = std::max(newest, mount.id.value());
  SYMNAS_TRY(draft.put(keys::mount_claim(draft.fs()), std::to_string(newest)));
  return std::move(draft).repair(Order::kAny,
                                 fmt::format("sets the newest claim to mount {}", newest));
}

// --- extended attributes

Result<Step> xattr_count(Draft draft) {
  const std::uint64_t met = draft.damage().value;
  SYMNAS_TRY(draft.rely_inode(draft.finding().ino));
  const auto count = static_cast<std::uint32_t>(met >> 32);
  const auto bytes = static_cast<std::uint32_t>(met);
  return edit_inode(std::move(draft), fmt::format("sets the count to {} of {} bytes", count, bytes),
                    [=](records::Inode& inode) {
                      inode.set_xattr_count(count);
                      inode.set_xattr_bytes(bytes);
                    });
}

Result<Step> xattrs_of_nothing(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), ino)));
  if (inode || draft.facts().has(ino, Fault::kNamesWithoutDirectory))
    return std::move(draft).later("the inode is made anew");
  SYMNAS_ASSIGN(const auto found,
                draft.snapshot().range(kv::prefix_range(keys::xattrs_of(draft.fs(), ino)),
                                       static_cast<std::int64_t>(kStepKeysMax - 10)));
  std::size_t bytes = 0;
  for (const kv::KeyValue& kv : found) {
    bytes += kv.key.size() + kv.value.size();
    if (bytes > kStepBytesMax) break;  // the rest follows with the next plan
    SYMNAS_TRY(draft.erase(kv.key));
  }
  return std::move(draft).repair(Order::kFrees, "erases them");
}

}  // namespace

Result<Step> repair_record(Draft draft) {
  switch (draft.damage().fault) {
    case Fault::kUnreadableInode:
      return std::move(draft).refuse(
          "what it said is not known: restore its key from an etcd snapshot, or remove the file's "
          "names and erase it");
    case Fault::kUnknownType: return unknown_type(std::move(draft));
    case Fault::kMode:
      return edit_inode(std::move(draft), "keeps the permission bits, clears the others",
                        [](records::Inode& inode) { inode.set_mode(inode.mode() & 07777U); });
    case Fault::kAcl:
      return std::move(draft).refuse(
          "which rights are meant cannot be proved: set its mode or its ACL again (chmod, "
          "nfs4_setfacl)");
    case Fault::kReservedIno:
      return std::move(draft).refuse(
          "no operation makes such a file: restore the records from an etcd snapshot, or erase "
          "its key by hand");
    case Fault::kSymlinkSize: return symlink_size(std::move(draft));
    case Fault::kUnreadableTimes: return unreadable_times(std::move(draft));
    case Fault::kTimesOfNothing: return times_of_nothing(std::move(draft));
    case Fault::kTimesOfNoDirectory: return times_of_no_directory(std::move(draft));
    case Fault::kUnknownKey:
      return std::move(draft).refuse(
          "it may be of a later version of symnas: if no head of the cluster runs one, erase the "
          "key with etcdctl");
    case Fault::kInoCounter: return ino_counter(std::move(draft));
    case Fault::kMountCounter: return mount_counter(std::move(draft));
    case Fault::kMountClaim: return mount_claim(std::move(draft));
    case Fault::kStamp:
      draft.puts_stamp();
      return std::move(draft).repair(Order::kAny,
                                     "puts the stamp: mounts look at everything again");
    case Fault::kCtimeAhead: return ctime_ahead(std::move(draft));
    case Fault::kXattrCount: return xattr_count(std::move(draft));
    case Fault::kXattrOfNothing: return xattrs_of_nothing(std::move(draft));
    default: return std::move(draft).refuse("no repair is known");
  }
}

}  // namespace symnas::fs::repair
