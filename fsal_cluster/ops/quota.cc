#include "fsal_cluster/ops/quota.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "common/kv/keys.h"
#include "common/kv/usage_keys.h"
#include "fsal_cluster/access/access.h"
#include "fsal_cluster/quota/limits.h"
#include "fsal_cluster/quota/usage_record.h"
#include "fsal_cluster/types/limits.h"

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

// Whether the numbers of two directories do not tell if they lie in one tree: one that has none may
// lie in a tree that is being marked.
bool depends_on_marking(const TreeOf& before, const TreeOf& after, const Node& source) {
  if (before.id != 0 && after.id != 0) return false;
  if (before.id == after.id) return source.is_directory();
  return !(before.id != 0 ? before : after).is_ready();
}

// The trees of which not everything has its number yet, by root, as etcd has them.
Result<std::map<Ino, std::uint32_t>> read_trees_being_marked(Context& context) {
  const std::string prefix = kv::keys::quota_trees(context.fs);
  SYMNAS_ASSIGN(const kv::OpResult read,
                context.session.range(kv::prefix_range(prefix), kTreesMax + 1));
  std::map<Ino, std::uint32_t> out;
  for (const kv::KeyValue& kv : read.kvs) {
    records::QuotaTree tree;
    const auto key = parse_quota_key(context.fs, kv.key);
    if (!key || !tree.ParseFromString(kv.value))
      return fail(ErrorCode::kCorrupt, "directory tree: its record cannot be parsed");
    if (tree.state() != records::QuotaTree::READY) out[Ino{tree.root()}] = key->subject.id;
  }
  return out;
}

// Looks for the tree that a directory lies in, marked or not, from the directory up. Right together
// with the compare of the move key, as in rename.cc: so trees do not come to lie in each other, and
// no marked directory outside of its tree.
class Above {
 public:
  // `move`: the move key, if it was read before a barrier already.
  static Result<Above> look(Context& context, std::optional<Revision> move) {
    const std::string key = kv::keys::directory_move(context.fs);
    if (!move) {
      SYMNAS_ASSIGN(const kv::CachedValue read, context.session.read(key));
      move = read.value ? read.mod_revision : Revision{0};
      SYMNAS_TRY(context.session.barrier());
    }
    Above out(context);
    std::optional<std::map<Ino, std::uint32_t>> marked;
    if (context.quotas != nullptr) marked = context.quotas->trees_being_marked();
    if (!marked) {
      SYMNAS_ASSIGN(marked, read_trees_being_marked(context));
    }
    out.roots_ = std::move(*marked);
    if (!out.roots_.empty()) out.part_.compares.push_back(kv::mod_revision_is(key, *move));
    return out;
  }
  Result<std::uint32_t> tree_around(const Node& directory) {
    Node at = directory;
    for (int depth = 0; depth < kDirectoryDepthMax; ++depth) {
      SYMNAS_ASSIGN(const TreeOf tree, tree_of(context_, at.record));
      if (tree.id != 0) return tree.id;
      add_removed(part_, {&tree});
      if (const auto it = roots_.find(at.ino); it != roots_.end()) return it->second;
      if (roots_.empty() || at.ino == kRootIno) return 0;
      SYMNAS_ASSIGN(std::optional<Node> above, find_node(context_, Ino{at.record.parent()}));
      if (!above) return fail(ErrorCode::kConflict, "parent directory: removed meanwhile");
      at = std::move(*above);
    }
    return fail(ErrorCode::kInvalidArgument,
                "directory: deeper than " + std::to_string(kDirectoryDepthMax) + " levels");
  }
  const TxnPart& part() const { return part_; }

 private:
  explicit Above(Context& context) : context_(context) {}

  Context& context_;
  std::map<Ino, std::uint32_t> roots_;  // of trees that are being marked
  TxnPart part_;
};

// Adds a directory to what the marker is to look at again. False: there is nothing to be put.
bool add_moved(records::QuotaTree& tree, Ino directory) {
  if (tree.marker() == 0) return false;  // whoever begins looks at all of it
  const auto& moved = tree.moved();
  if (std::find(moved.begin(), moved.end(), directory.value()) != moved.end()) return false;
  if (moved.size() >= kTreeMovedMax) {
    tree.clear_moved();
    tree.clear_marker();  // it begins anew
  } else {
    tree.add_moved(directory.value());
  }
  return true;
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

Result<TreesOfChange> trees_of_rename(Context& context, const TreeMove& move) {
  const Node& source = move.source;
  TreesOfChange out;
  SYMNAS_ASSIGN(TreeOf before, tree_of(context, move.from.record()));
  SYMNAS_ASSIGN(TreeOf after, tree_of(context, move.to.record()));
  SYMNAS_ASSIGN(const TreeOf own, tree_of(context, source.record));
  add_removed(out.part, {&before, &after, &own});
  std::uint32_t from = before.id;
  std::uint32_t to = after.id;
  if (move.from.ino() != move.to.ino() && depends_on_marking(before, after, source)) {
    SYMNAS_ASSIGN(Above above, Above::look(context, move.directory_move));
    SYMNAS_ASSIGN(from, above.tree_around(move.from.directory.node));
    SYMNAS_ASSIGN(to, above.tree_around(move.to.directory.node));
    above.part().add_to(out.part);
  }
  if (from != to && (own.id != to || source.is_directory())) return other_tree(move.to.name);
  if (after.id == 0) return out;
  if (own.id == 0) out.number = after.id;
  if (!source.is_directory() || after.is_ready()) return out;
  const std::string key = kv::keys::quota_tree(context.fs, after.id);
  out.part.compares.push_back(kv::mod_revision_is(key, after.revision));
  if (add_moved(after.record, source.ino))
    out.part.writes.push_back(kv::put(key, after.record.SerializeAsString()));
  return out;
}

Result<TreesOfChange> trees_of_link(Context& context, const Node& target, const Place& place) {
  TreesOfChange out;
  SYMNAS_ASSIGN(const TreeOf own, tree_of(context, target.record));
  SYMNAS_ASSIGN(const TreeOf there, tree_of(context, place.record()));
  add_removed(out.part, {&own, &there});
  if (own.id == there.id) return out;
  if (own.id == 0 && !there.is_ready()) {
    out.number = there.id;
    out.part.compares.push_back(
        kv::mod_revision_is(kv::keys::quota_tree(context.fs, there.id), there.revision));
    return out;
  }
  if (there.id != 0 || own.is_ready()) return other_tree(place.name);
  SYMNAS_ASSIGN(Above above, Above::look(context, std::nullopt));
  SYMNAS_ASSIGN(const std::uint32_t around, above.tree_around(place.directory.node));
  if (around != own.id) return other_tree(place.name);
  above.part().add_to(out.part);
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
