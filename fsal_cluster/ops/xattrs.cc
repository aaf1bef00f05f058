#include "fsal_cluster/ops/xattrs.h"

#include <algorithm>
#include <utility>

#include "common/kv/xattr_keys.h"
#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

Status check_xattr_name(const std::string& name) {
  if (name.size() > kXattrNameBytesMax)
    return fail(ErrorCode::kNameTooLong, "names of extended attributes have at most " +
                                             std::to_string(kXattrNameBytesMax) +
                                             " bytes, without \"user.\"");
  if (name.empty() || name.find('\0') != std::string::npos)
    return fail(ErrorCode::kInvalidArgument, "not a name of an extended attribute");
  return {};
}

bool may_have_xattrs(const Node& node) { return node.is_regular() || node.is_directory(); }

Error no_such(const std::string& name) {
  return Error{ErrorCode::kNotFound, name + ": no such extended attribute"};
}

Status check_change(const Credentials& who, const Node& node) {
  if (!may_have_xattrs(node))
    return fail(ErrorCode::kNotOwner, "only files and directories have extended attributes");
  const records::Inode& inode = node.record;
  if (node.is_directory() && (inode.mode() & kSticky) != 0 && !is_owner(who, inode.uid()))
    return fail(ErrorCode::kNotOwner, "sticky directory: only its owner sets its attributes");
  return check_access(who, inode, kMayWrite);
}

std::size_t bytes_of(const Xattr& attribute) {
  return attribute.value_bytes ? attribute.name.size() + *attribute.value_bytes : 0;
}

// Takes the attribute out of the inode's counts. Errors: kCorrupt.
Status uncount(const Xattr& attribute, records::Inode& inode) {
  if (!attribute.value_bytes) return {};
  const std::size_t bytes = bytes_of(attribute);
  if (inode.xattr_count() == 0 || inode.xattr_bytes() < bytes)
    return fail(ErrorCode::kCorrupt,
                "the inode's record counts fewer extended attributes than there are; run symnas fs "
                "check");
  inode.set_xattr_count(inode.xattr_count() - 1);
  inode.set_xattr_bytes(inode.xattr_bytes() - static_cast<std::uint32_t>(bytes));
  return {};
}

Status count(const Xattr& attribute, records::Inode& inode) {
  if (inode.xattr_count() >= kXattrsMax)
    return fail(ErrorCode::kNoSpace,
                "a file has at most " + std::to_string(kXattrsMax) + " extended attributes");
  const std::size_t bytes = inode.xattr_bytes() + bytes_of(attribute);
  if (bytes > kXattrBytesMax)
    return fail(ErrorCode::kTooLarge,
                "the names and values of a file's extended attributes have "
                "at most " +
                    std::to_string(kXattrBytesMax) + " bytes");
  inode.set_xattr_count(inode.xattr_count() + 1);
  inode.set_xattr_bytes(static_cast<std::uint32_t>(bytes));
  return {};
}

kv::Mutation change(FsId fs, const Node& node, records::Inode inode, const Xattr& before,
                    kv::Op write, std::int64_t now_ns) {
  inode.set_ctime_ns(now_ns);
  kv::Mutation mutation;
  mutation.compares = {unchanged(fs, node)};
  if (before.value_bytes)
    mutation.compares.push_back(kv::mod_revision_is(write.range.key, before.mod_revision));
  mutation.writes = {put_inode(fs, node.ino, inode), std::move(write)};
  return mutation;
}

// REQUIRES: `node` was read before. Then what is found belongs to it, unless the transaction that
// compares it fails. Errors: kConflict (the node is older than the attribute), Session::range.
Result<Xattr> read_xattr(Context& context, const Node& node, const std::string& name) {
  Xattr out{name, std::nullopt, Revision{0}};
  if (node.record.xattr_count() == 0) return out;
  const std::string key = kv::keys::xattr(context.fs, node.ino, name);
  SYMNAS_ASSIGN(const kv::OpResult found, context.session.range(kv::single_key(key), 1));
  if (found.kvs.empty()) return out;
  out.value_bytes = found.kvs.front().value.size();
  out.mod_revision = found.kvs.front().mod_revision;
  if (out.mod_revision > node.mod_revision)
    return fail(ErrorCode::kConflict, name + ": set since the inode was read");
  return out;
}

// A refusal by the limits is no answer if the inode has changed since it was read: the counts may
// not belong to the attribute that was found. Errors: kConflict, Session::barrier.
Status check_refusal(Context& context, const Node& node, const Error& refusal) {
  if (refusal.code != ErrorCode::kTooLarge && refusal.code != ErrorCode::kNoSpace) return {};
  SYMNAS_TRY(context.session.barrier());
  SYMNAS_ASSIGN(const std::optional<Node> now, find_node(context, node.ino));
  if (now && now->mod_revision == node.mod_revision) return {};
  return fail(ErrorCode::kConflict, "the inode was changed meanwhile");
}

// plan(node, before) answers the mutation.
template <class Plan>
Status change_xattr(Context& context, const Handle& handle, const std::string& name, Plan plan) {
  SYMNAS_TRY(check_xattr_name(name));
  return retry_conflicts(context, [&](int) -> Status {
    SYMNAS_ASSIGN(const Node node, require_node(context, handle));
    SYMNAS_ASSIGN(const Xattr before, read_xattr(context, node, name));
    Result<kv::Mutation> mutation = plan(node, before);
    if (!mutation) {
      SYMNAS_TRY(check_refusal(context, node, mutation.error()));
      return tl::unexpected<Error>(std::move(mutation.error()));
    }
    const auto done = commit(context, std::move(*mutation));
    return done ? Status() : Status(tl::unexpected<Error>(done.error()));
  });
}

// The inode, for reading: as strict as GETATTR. nullopt: it has no attributes.
Result<std::optional<Node>> node_with_xattrs(Context& context, const Credentials& who,
                                             const Handle& handle) {
  SYMNAS_ASSIGN(Node node, require_node(context, handle));
  if (!may_have_xattrs(node)) return std::optional<Node>();
  SYMNAS_TRY(check_access(who, node.record, kMayRead));
  if (node.record.xattr_count() == 0) return std::optional<Node>();
  return std::optional<Node>(std::move(node));
}

}  // namespace

Result<kv::Mutation> plan_set_xattr(FsId fs, const Credentials& who, const Node& node,
                                    const Xattr& before, const std::string& value,
                                    XattrOption option, std::int64_t now_ns) {
  SYMNAS_TRY(check_change(who, node));
  const bool exists = before.value_bytes.has_value();
  if (exists && option == XattrOption::kCreate)
    return fail(ErrorCode::kAlreadyExists, before.name + ": the attribute exists already");
  if (!exists && option == XattrOption::kReplace)
    return tl::unexpected<Error>(no_such(before.name));
  if (value.size() > kXattrValueBytesMax)
    return fail(ErrorCode::kTooLarge, before.name + ": values have at most " +
                                          std::to_string(kXattrValueBytesMax) + " bytes");
  records::Inode inode = node.record;
  SYMNAS_TRY(uncount(before, inode));
  SYMNAS_TRY(count(Xattr{before.name, value.size(), Revision{0}}, inode));
  kv::Mutation mutation =
      change(fs, node, std::move(inode), before,
             kv::put(kv::keys::xattr(fs, node.ino, before.name), value), now_ns);
  if (exists && value.size() <= *before.value_bytes) mutation.growth = kv::Growth::kChanges;
  return mutation;
}

Result<kv::Mutation> plan_remove_xattr(FsId fs, const Credentials& who, const Node& node,
                                       const Xattr& before, std::int64_t now_ns) {
  SYMNAS_TRY(check_change(who, node));
  if (!before.value_bytes) return tl::unexpected<Error>(no_such(before.name));
  records::Inode inode = node.record;
  SYMNAS_TRY(uncount(before, inode));
  kv::Mutation mutation = change(fs, node, std::move(inode), before,
                                 kv::erase(kv::keys::xattr(fs, node.ino, before.name)), now_ns);
  mutation.growth = kv::Growth::kMustGo;
  return mutation;
}

void erase_xattrs(FsId fs, const Node& node, std::vector<kv::Op>& writes) {
  if (node.record.xattr_count() == 0) return;
  writes.push_back(kv::erase_range(kv::prefix_range(kv::keys::xattrs_of(fs, node.ino))));
}

namespace {

// Reads a range of the attributes of a file that the caller may read. What was set after the right
// was judged is not answered: it is judged again. nullopt: the file has no attributes.
template <class RangeOf>
Result<std::optional<kv::OpResult>> read_allowed(Context& context, const Credentials& who,
                                                 const Handle& handle, RangeOf range_of) {
  SYMNAS_ASSIGN(const Membership::Stay stay, before_strict_read(context));
  for (int attempt = 0; attempt <= kConflictRetriesMax; ++attempt) {
    SYMNAS_ASSIGN(const std::optional<Node> node, node_with_xattrs(context, who, handle));
    if (!node) return std::optional<kv::OpResult>();
    SYMNAS_ASSIGN(kv::OpResult found, context.session.range(range_of(node->ino), 0));
    const bool is_newer =
        std::any_of(found.kvs.begin(), found.kvs.end(),
                    [&](const kv::KeyValue& kv) { return kv.mod_revision > node->mod_revision; });
    if (!is_newer) return std::optional<kv::OpResult>(std::move(found));
    SYMNAS_TRY(context.session.barrier());
  }
  return fail(ErrorCode::kConflict, "its attributes are changed all the time; try again later");
}

}  // namespace

Result<std::string> get_xattr(Context& context, const Credentials& who, const Handle& handle,
                              const std::string& name) {
  SYMNAS_TRY(check_xattr_name(name));
  SYMNAS_ASSIGN(auto found, read_allowed(context, who, handle, [&](Ino ino) {
                  return kv::single_key(kv::keys::xattr(context.fs, ino, name));
                }));
  if (!found || found->kvs.empty()) return tl::unexpected<Error>(no_such(name));
  return std::move(found->kvs.front().value);
}

Result<std::vector<XattrName>> list_xattrs(Context& context, const Credentials& who,
                                           const Handle& handle, std::uint64_t cookie) {
  std::vector<XattrName> names;
  const std::size_t prefix = kv::keys::xattrs_of(context.fs, handle.ino).size();
  SYMNAS_ASSIGN(const auto found, read_allowed(context, who, handle, [&](Ino ino) {
                  return kv::prefix_range(kv::keys::xattrs_of(context.fs, ino));
                }));
  if (!found) return names;
  for (const kv::KeyValue& kv : found->kvs) {
    XattrName next{kv.key.substr(prefix), 0};
    next.cookie = context.hasher.hash(next.name);
    if (next.cookie > cookie) names.push_back(std::move(next));
  }
  std::sort(names.begin(), names.end(),
            [](const XattrName& a, const XattrName& b) { return a.cookie < b.cookie; });
  return names;
}

Status set_xattr(Context& context, const Credentials& who, const Handle& handle,
                 const std::string& name, const std::string& value, XattrOption option) {
  return change_xattr(context, handle, name, [&](const Node& node, const Xattr& before) {
    return plan_set_xattr(context.fs, who, node, before, value, option,
                          context.session.next_time_ns());
  });
}

Status remove_xattr(Context& context, const Credentials& who, const Handle& handle,
                    const std::string& name) {
  return change_xattr(context, handle, name, [&](const Node& node, const Xattr& before) {
    return plan_remove_xattr(context.fs, who, node, before, context.session.next_time_ns());
  });
}

}  // namespace symnas::fs
