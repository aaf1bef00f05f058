#include "fsal_cluster/ops/setattr.h"

#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/access/access.h"
#include "fsal_cluster/access/acl_change.h"
#include "fsal_cluster/access/acl_mode.h"
#include "fsal_cluster/ops/getattr.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/quota.h"
#include "fsal_cluster/ops/retry.h"

namespace symnas::fs {
namespace {

Status not_owner(const char* what) {
  return fail(ErrorCode::kNotOwner, std::string(what) + ": only the owner or root may");
}

Status check_owner_change(const Credentials& who, const SetAttributes& changes,
                          const records::Inode& inode) {
  if (is_root(who)) return {};
  // WRITE_OWNER lets others make themselves the owner, and give one of their groups.
  const bool takes = acl_grants(who, inode, kAceWriteOwner);
  const bool owner = who.uid == inode.uid() || takes;
  if (changes.uid && !(who.uid == *changes.uid && owner)) return not_owner("uid");
  if (changes.gid && !(owner && (in_group(who, *changes.gid) || *changes.gid == inode.gid())))
    return not_owner("gid");
  return {};
}

Status check_times(const Credentials& who, const SetAttributes& changes,
                   const records::Inode& inode) {
  if (is_owner(who, inode.uid())) return {};
  const auto explicit_time = [](const std::optional<std::int64_t>& time) {
    return time && *time != kServerTime;
  };
  if (acl_grants(who, inode, kAceWriteAttributes)) return {};
  if (explicit_time(changes.atime_ns) || explicit_time(changes.mtime_ns)) return not_owner("times");
  if (changes.atime_ns || changes.mtime_ns) return check_access(who, inode, kMayWrite);
  return {};
}

Status check_setattr(const Credentials& who, const SetAttributes& changes,
                     const records::Inode& inode) {
  SYMNAS_TRY(check_owner_change(who, changes, inode));
  if ((changes.mode || changes.acl) && !is_owner(who, inode.uid()) &&
      !acl_grants(who, inode, kAceWriteAcl))
    return not_owner("mode");
  SYMNAS_TRY(check_times(who, changes, inode));
  if (changes.size_bytes && !is_owner(who, inode.uid()))
    SYMNAS_TRY(check_access(who, inode, kMayWrite));
  return {};
}

std::uint32_t new_mode(const Credentials& who, const SetAttributes& changes,
                       const records::Inode& inode) {
  const bool directory = static_cast<FileType>(inode.type()) == FileType::kDirectory;
  const bool owner_changes = changes.uid.has_value() || changes.gid.has_value();
  std::uint32_t mode = inode.mode();
  if (changes.mode) {
    mode = *changes.mode & kModeBits;
    if (!is_root(who) && !in_group(who, changes.gid.value_or(inode.gid()))) mode &= ~kSetGid;
    if (!is_root(who) && owner_changes && !directory) mode = without_privilege_bits(mode);
    // Who may set the mode by WRITE_ACL only must not come to act as the owner.
    if (!is_owner(who, inode.uid())) mode &= ~(kSetUid | kSetGid);
    return mode;
  }
  const bool truncates = changes.size_bytes.has_value() && !is_root(who);
  if (!directory && (owner_changes || truncates)) mode = without_privilege_bits(mode);
  if (changes.acl && !is_root(who) && !in_group(who, inode.gid())) mode &= ~kSetGid;
  return mode;
}

kv::Op put_directory_mtime(FsId fs, Ino ino, std::int64_t mtime_ns, std::int64_t now_ns) {
  records::DirectoryTimes times;
  times.set_time_ns(now_ns);
  if (mtime_ns != kServerTime) times.set_mtime_ns(mtime_ns);
  return kv::put(kv::keys::directory_times(fs, ino), times.SerializeAsString());
}

Status set_with_size(Context& context, const Credentials& who, const Handle& handle,
                     const SetAttributes& changes) {
  if (handle.fs != context.fs) return fail(ErrorCode::kStale, "file: of another filesystem");
  const auto edit = [&](records::Inode& inode) {
    return apply_setattr(who, changes, context.session.next_time_ns(), inode);
  };
  const MtimeIs mtime = changes.mtime_ns ? MtimeIs::kChosen : MtimeIs::kOfTheChange;
  const auto done = context.data.set_size(handle, *changes.size_bytes, mtime, edit,
                                          record_of_call(context, handle));
  return done ? Status() : Status(tl::unexpected<Error>(done.error()));
}

// The mtime of a file also belongs to its data: no write may come between.
Status set_file_mtime(Context& context, const Credentials& who, const Handle& handle,
                      const Node& node, const SetAttributes& changes) {
  const auto edit = [&](records::Inode& inode) {
    return apply_setattr(who, changes, context.session.next_time_ns(), inode);
  };
  records::Inode trial = node.record;
  SYMNAS_TRY(edit(trial));  // without permission nothing is committed
  const auto done = context.data.set_times(handle, edit, record_of_call(context, handle));
  return done ? Status() : Status(tl::unexpected<Error>(done.error()));
}

Status set_without_size(Context& context, const Credentials& who, const Handle& handle,
                        const SetAttributes& changes) {
  return retry_conflicts(context, [&](int) -> Status {
    SYMNAS_ASSIGN(const Node node, require_node(context, handle));
    if (node.is_regular() && changes.mtime_ns)
      return set_file_mtime(context, who, handle, node, changes);
    SYMNAS_ASSIGN(kv::Mutation mutation,
                  plan_setattr(context.fs, who, node, changes, context.session.next_time_ns()));
    const auto done = commit_call(context, std::move(mutation), handle);
    return done ? Status() : Status(tl::unexpected<Error>(done.error()));
  });
}

bool changes_nothing(const SetAttributes& changes) {
  return !changes.mode && !changes.uid && !changes.gid && !changes.size_bytes &&
         !changes.atime_ns && !changes.mtime_ns && !changes.acl;
}

}  // namespace

Status apply_setattr(const Credentials& who, const SetAttributes& changes, std::int64_t now_ns,
                     records::Inode& inode) {
  SYMNAS_TRY(check_setattr(who, changes, inode));
  const std::uint32_t mode = new_mode(who, changes, inode);
  if (changes.acl) SYMNAS_TRY(set_acl(*changes.acl, inode));
  if (changes.mode)
    SYMNAS_TRY(set_mode(mode, inode));
  else
    inode.set_mode((mode & ~kPermissionBits) | (inode.mode() & kPermissionBits));
  if (changes.uid) inode.set_uid(*changes.uid);
  if (changes.gid) inode.set_gid(*changes.gid);
  const auto time = [now_ns](std::int64_t wanted) {
    return wanted == kServerTime ? now_ns : wanted;
  };
  if (changes.atime_ns) inode.set_atime_ns(time(*changes.atime_ns));
  if (changes.mtime_ns) inode.set_mtime_ns(time(*changes.mtime_ns));
  inode.set_ctime_ns(now_ns);
  return {};
}

Result<kv::Mutation> plan_setattr(FsId fs, const Credentials& who, const Node& node,
                                  const SetAttributes& changes, std::int64_t now_ns) {
  records::Inode inode = node.record;
  SYMNAS_TRY(apply_setattr(who, changes, now_ns, inode));
  kv::Mutation mutation;
  const bool grows = changes.acl && inode.ByteSizeLong() > node.record.ByteSizeLong();
  mutation.growth = grows ? kv::Growth::kGrows : kv::Growth::kChanges;
  mutation.compares = {unchanged(fs, node)};
  mutation.writes = {put_inode(fs, node.ino, inode)};
  if (node.is_directory() && changes.mtime_ns)
    mutation.writes.push_back(put_directory_mtime(fs, node.ino, *changes.mtime_ns, now_ns));
  return mutation;
}

Result<Attributes> setattr(Context& context, const Credentials& who, const Handle& handle,
                           const SetAttributes& changes) {
  if (changes_nothing(changes)) return getattr(context, handle);
  if (changes.acl && !context.acls)
    return fail(ErrorCode::kNotSupported, "ACL: the filesystem does not keep any");
  Quotas::Charge charge;
  SYMNAS_TRY(charge_new_owner(context, who, handle, changes, charge));
  SYMNAS_TRY(changes.size_bytes ? set_with_size(context, who, handle, changes)
                                : set_without_size(context, who, handle, changes));
  auto attributes = getattr(context, handle);
  if (attributes || attributes.error().code != ErrorCode::kNoSpace) return attributes;
  // The change is done. But etcd is full, so the mount that holds the file's newest size cannot be
  // asked to publish it.
  SYMNAS_ASSIGN(const Node node, require_node(context, handle));
  return attributes_here(context, node);
}

}  // namespace symnas::fs
