#include "fsal_cluster/ops/new_node.h"

#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/access/access.h"
#include "fsal_cluster/access/acl_change.h"
#include "fsal_cluster/access/acl_inherit.h"
#include "fsal_cluster/ops/quota.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/schema/acl.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/state/share_modes.h"

namespace symnas::fs {
namespace {

std::int64_t time_or(const std::optional<std::int64_t>& wanted, std::int64_t now_ns) {
  return wanted && *wanted != kServerTime ? *wanted : now_ns;
}

std::uint32_t default_mode(FileType type) {
  if (type == FileType::kSymlink) return 0777;
  return type == FileType::kDirectory ? 0700 : 0600;
}

// Sets owner and group: the caller's, or the parent's group in a setgid directory. An owner or
// group that the caller asks for must be one that it may give.
Status set_owner(records::Inode& inode, const NewNodeInput& input) {
  const records::Inode& parent = input.place.record();
  const bool inherits = (parent.mode() & kSetGid) != 0;
  const SetAttributes& wanted = input.node.attributes;
  inode.set_uid(wanted.uid.value_or(input.who.uid));
  inode.set_gid(wanted.gid.value_or(inherits ? parent.gid() : input.who.gid));
  if (is_root(input.who)) return {};
  const bool own_group =
      in_group(input.who, inode.gid()) || (inherits && inode.gid() == parent.gid());
  if (inode.uid() == input.who.uid && own_group) return {};
  return fail(ErrorCode::kNotOwner, input.place.name + ": only root may give files away");
}

void set_mode_of_new(records::Inode& inode, const NewNodeInput& input) {
  const records::Inode& parent = input.place.record();
  std::uint32_t mode = input.node.attributes.mode.value_or(default_mode(input.type)) & kModeBits;
  if (input.type == FileType::kSymlink) mode = 0777;
  if (input.type == FileType::kDirectory && (parent.mode() & kSetGid) != 0) mode |= kSetGid;
  const bool own_group = is_root(input.who) || in_group(input.who, inode.gid());
  if (input.type != FileType::kDirectory && !own_group) mode &= ~kSetGid;
  inode.set_mode(mode);
}

// The ACL that the client gives, or that the directory hands on: then what is inherited takes the
// place of a umask that the client has not applied (acl_inherit.h).
Status set_acl_of_new(records::Inode& inode, const NewNodeInput& input) {
  const SetAttributes& wanted = input.node.attributes;
  if (wanted.acl) {
    SYMNAS_TRY(set_acl(*wanted.acl, inode));
    if (!wanted.mode) return {};
    return set_mode((inode.mode() & ~kPermissionBits) | (*wanted.mode & kPermissionBits), inode);
  }
  const auto parent = acl_of(input.place.record());
  if (!parent || input.type == FileType::kSymlink) return {};
  const AclOf what = input.type == FileType::kDirectory ? AclOf::kDirectory : AclOf::kFile;
  auto inherited = inherit(*parent, what, wanted.mode);
  if (!inherited) return {};
  if (inherited->acl && inherited->acl->aces.size() > kAcesStoredMax)
    return fail(ErrorCode::kTooLarge, input.place.name + ": would inherit too large an ACL");
  inode.set_mode((inode.mode() & ~kPermissionBits) | inherited->mode);
  put_acl(inode, inherited->acl);
  return {};
}

Status set_content(records::Inode& inode, const NewNodeInput& input) {
  switch (input.type) {
    case FileType::kRegular: {
      const std::uint64_t size = input.node.attributes.size_bytes.value_or(0);
      if (size > kFileBytesMax)
        return fail(ErrorCode::kOutOfRange, input.place.name + ": larger than a file may be");
      inode.set_size_bytes(size);
      return {};
    }
    case FileType::kDirectory: inode.set_parent(input.place.ino().value()); return {};
    case FileType::kSymlink:
      inode.set_symlink_target(input.node.symlink_target);
      inode.set_size_bytes(input.node.symlink_target.size());
      return {};
    case FileType::kBlockDevice:
    case FileType::kCharDevice:
      inode.set_rdev_major(input.node.rdev_major);
      inode.set_rdev_minor(input.node.rdev_minor);
      return {};
    case FileType::kFifo:
    case FileType::kSocket: return {};
  }
  return {};
}

Result<records::Inode> new_inode(const NewNodeInput& input) {
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(input.type));
  inode.set_nlink(1);
  inode.set_generation(input.generation.value());
  SYMNAS_TRY(set_owner(inode, input));
  set_mode_of_new(inode, input);
  SYMNAS_TRY(set_acl_of_new(inode, input));
  inode.set_tree(input.tree.id);
  SYMNAS_TRY(set_content(inode, input));
  inode.set_atime_ns(time_or(input.node.attributes.atime_ns, input.now_ns));
  inode.set_mtime_ns(time_or(input.node.attributes.mtime_ns, input.now_ns));
  inode.set_ctime_ns(input.now_ns);
  if (input.verifier) inode.set_exclusive_verifier(*input.verifier);
  return inode;
}

}  // namespace

Result<NewNodePlan> plan_new_node(const NewNodeInput& input) {
  const Place& place = input.place;
  SYMNAS_TRY(check_access(input.who, place.record(), kMayExecute));
  if (place.entry() != nullptr)
    return fail(ErrorCode::kAlreadyExists, place.name + ": exists already");
  SYMNAS_TRY(check_add(input.who, place.record(), input.type));
  NewNodePlan plan;
  SYMNAS_ASSIGN(plan.inode, new_inode(input));
  Bucket bucket = place.bucket;
  SYMNAS_TRY(add_entry(bucket.record, place.name, input.ino, input.type));
  plan.mutation.compares = {unchanged(input.fs, place.directory.node), unchanged(bucket)};
  plan.mutation.writes = {put_inode(input.fs, input.ino, plan.inode), put_bucket(bucket)};
  for (const kv::Op& token : input.tokens) plan.mutation.writes.push_back(token);
  if (input.tree.removed) plan.mutation.compares.push_back(*input.tree.removed);
  plan.mutation.merged_puts = {touch(input.fs, place.ino(), input.now_ns)};
  return plan;
}

Result<Created> try_add_node(Context& context, const NewNodeRequest& request, const Place& place,
                             int attempt, const DirectoryTurn& turn) {
  if (request.node.attributes.acl && !context.acls)
    return fail(ErrorCode::kNotSupported, "ACL: the filesystem does not keep any");
  SYMNAS_ASSIGN(TreeOf tree, tree_of(context, place.record()));
  SYMNAS_ASSIGN(const Ino ino, context.inos.next());
  NewNodeInput input{.fs = context.fs,
                     .who = request.who,
                     .place = place,
                     .type = request.type,
                     .node = request.node,
                     .verifier = request.verifier,
                     .ino = ino,
                     .generation = Generation{context.mount.value()},
                     .tokens = {},
                     .tree = std::move(tree),
                     .now_ns = context.session.next_time_ns()};
  // A recovery gives a file that has a token new times: so a file whose mtime the client has chosen
  // gets no token here.
  const auto mtime = request.node.attributes.mtime_ns;
  if (request.type == FileType::kRegular && mtime.value_or(kServerTime) == kServerTime)
    input.tokens = context.data.tokens_at_create(ino);
  const bool has_token = !input.tokens.empty();
  SYMNAS_ASSIGN(NewNodePlan plan, plan_new_node(input));
  SYMNAS_ASSIGN(const Quotas::Charge charge, charge_new(context, request.who, plan.inode));
  std::optional<ShareModes::FirstOpen> open;
  if (request.node.open && context.shares != nullptr) {
    open.emplace(context.shares->first_open(ino, *request.node.open));
    for (const kv::Op& write : open->writes()) plan.mutation.writes.push_back(write);
  }
  const Handle made{context.fs, ino, input.generation};
  SYMNAS_ASSIGN(const kv::Committed done, commit_call(context, std::move(plan.mutation), made));
  if (open) open->count();
  if (has_token) context.data.created(ino);
  const Node node{ino, std::move(plan.inode), done.revision};
  Created out;
  out.opened = open.has_value();
  out.attributes = node.is_directory()
                       ? attributes_of(context.fs, Directory{node, std::nullopt, Revision{0}})
                       : attributes_of(context.fs, node, context.block_bytes);
  out.directory = change_of(context, place.directory, input.now_ns, done, pre_of(attempt, turn));
  return out;
}

Result<Created> add_node(Context& context, const NewNodeRequest& request) {
  return retry_in_directory(context, request.directory.ino,
                            [&](int attempt, const DirectoryTurn& turn) -> Result<Created> {
                              SYMNAS_ASSIGN(const Place place,
                                            read_place(context, request.directory, request.name));
                              return try_add_node(context, request, place, attempt, turn);
                            });
}

}  // namespace symnas::fs
