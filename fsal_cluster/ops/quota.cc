#include "fsal_cluster/ops/quota.h"

#include <algorithm>
#include <initializer_list>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/access/access.h"
#include "fsal_cluster/quota/limits.h"

namespace symnas::fs {
namespace {

Quotas::Exempt exempt(const Credentials& who) {
  return is_root(who) ? Quotas::Exempt::kYes : Quotas::Exempt::kNo;
}

constexpr std::uint8_t without(SubjectKind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}

tl::unexpected<Error> other_tree(const std::string& name) {
  return fail(ErrorCode::kCrossDevice,
              name + ": lies in another directory tree with a quota; copy it instead");
}

void add_removed(TxnPart& part, std::initializer_list<const TreeOf*> trees) {
  for (const TreeOf* tree : trees) {
    if (tree->removed) part.compares.push_back(*tree->removed);
  }
}

}  // namespace

Result<Quotas::Charge> charge_new(Context& context, const Credentials& who,
                                  const records::Inode& inode) {
  Quotas::Charge charge;
  if (context.quotas == nullptr || !context.quotas->any()) return charge;
  // A new inode has no blocks, so nothing that is to be recorded bears on the answer.
  SYMNAS_TRY(context.quotas->admit_blocking(charge, subjects_of(inode), {0, 1}, exempt(who),
                                            [](const Subjects&) { return Status(); }));
  return charge;
}

Status charge_new_owner(Context& context, const Credentials& who, const Handle& handle,
                        const SetAttributes& changes, Quotas::Charge& charge) {
  if (!changes.uid && !changes.gid) return {};
  if (context.quotas == nullptr || !context.quotas->any()) return {};
  // Before the record is read: what was acknowledged goes to the new owner, too.
  SYMNAS_TRY(context.data.record_usage());
  SYMNAS_ASSIGN(const Node node, require_node(context, handle));
  Subjects gaining = subjects_of(node.record);
  gaining.without = without(SubjectKind::kFilesystem) | without(SubjectKind::kTree);
  if (!changes.uid || *changes.uid == gaining.uid) gaining.without |= without(SubjectKind::kUser);
  if (!changes.gid || *changes.gid == gaining.gid) gaining.without |= without(SubjectKind::kGroup);
  gaining.uid = changes.uid.value_or(gaining.uid);
  gaining.gid = changes.gid.value_or(gaining.gid);
  return context.quotas->admit_blocking(
      charge, gaining, usage_of(node.record), exempt(who),
      [&](const Subjects&) { return context.data.record_usage(); });
}

Status may_ask(const Credentials& who, const Subject& subject) {
  if (is_root(who)) return {};
  if (subject.kind == SubjectKind::kUser && subject.id == who.uid) return {};
  if (subject.kind == SubjectKind::kGroup && in_group(who, subject.id)) return {};
  return fail(ErrorCode::kPermission, "quota: user " + std::to_string(who.uid) +
                                          " may not ask about " + to_string(subject));
}

Result<TreeOf> tree_of(Context& context, const records::Inode& inode) {
  TreeOf out;
  if (inode.tree() == 0) return out;
  const std::string key = kv::keys::quota_tree(context.fs, inode.tree());
  SYMNAS_ASSIGN(const kv::CachedValue read, context.session.read(key));
  if (!read.value) {
    out.removed = kv::key_absent(key);
    return out;
  }
  if (!out.record.ParseFromString(*read.value))
    return fail(ErrorCode::kCorrupt,
                "directory tree " + std::to_string(inode.tree()) + ": its record cannot be parsed");
  out.id = inode.tree();
  out.revision = read.mod_revision;
  return out;
}

Result<TreesOfRename> trees_of_rename(Context& context, const Node& source, const Place& from,
                                      const Place& to) {
  TreesOfRename out;
  SYMNAS_ASSIGN(const TreeOf before, tree_of(context, from.record()));
  SYMNAS_ASSIGN(const TreeOf after, tree_of(context, to.record()));
  SYMNAS_ASSIGN(const TreeOf own, tree_of(context, source.record));
  if (before.id != after.id && (own.id != after.id || source.is_directory()))
    return other_tree(to.name);
  add_removed(out.part, {&before, &after, &own});
  if (after.id == 0) return out;
  if (own.id == 0) out.number = after.id;
  if (!source.is_directory() || after.record.state() == records::QuotaTree::READY) return out;
  records::QuotaTree next = after.record;
  const auto& moved = next.moved();
  if (std::find(moved.begin(), moved.end(), source.ino.value()) == moved.end()) {
    if (moved.size() >= kTreeMovedMax)
      return fail(ErrorCode::kBusy, to.name + ": its directory tree is being marked; try again");
    next.add_moved(source.ino.value());
  }
  const std::string key = kv::keys::quota_tree(context.fs, after.id);
  out.part.compares.push_back(kv::mod_revision_is(key, after.revision));
  out.part.writes.push_back(kv::put(key, next.SerializeAsString()));
  return out;
}

Result<TxnPart> trees_of_link(Context& context, const Node& target, const Place& place) {
  TxnPart out;
  SYMNAS_ASSIGN(const TreeOf own, tree_of(context, target.record));
  SYMNAS_ASSIGN(const TreeOf there, tree_of(context, place.record()));
  if (own.id != there.id) return other_tree(place.name);
  add_removed(out, {&own, &there});
  return out;
}

Result<TxnPart> tree_of_removed(Context& context, const Node& directory) {
  TxnPart out;
  SYMNAS_ASSIGN(const TreeOf tree, tree_of(context, directory.record));
  if (!tree.is_root(directory.ino)) return out;
  constexpr auto kKind = static_cast<std::uint8_t>(SubjectKind::kTree);
  const std::string key = kv::keys::quota_tree(context.fs, tree.id);
  out.compares = {kv::mod_revision_is(key, tree.revision)};
  out.writes = {kv::erase(key), kv::erase(kv::keys::quota_limit(context.fs, kKind, tree.id)),
                kv::erase(kv::keys::quota_grace(context.fs, kKind, tree.id))};
  return out;
}

}  // namespace symnas::fs
