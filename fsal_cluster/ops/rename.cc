#include "fsal_cluster/ops/rename.h"

#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/directory_change.h"
#include "fsal_cluster/ops/quota.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

Status set_entry(Bucket& bucket, const RenameInput& input) {
  const Node& source = input.source;
  if (input.target == nullptr)
    return add_entry(bucket.record, input.to.name, source.ino, source.type());
  replace_entry(bucket.record, input.to.name, source.ino, source.type());
  return {};
}

// The two names' buckets, which may be one.
Status add_buckets(const RenameInput& input, kv::Mutation& mutation) {
  if (input.from.bucket.key == input.to.bucket.key &&
      input.from.bucket.mod_revision != input.to.bucket.mod_revision)
    return fail(ErrorCode::kConflict, input.to.name + ": changed between the two looks at it");
  Bucket from = input.from.bucket;
  remove_entry(from.record, input.from.name);
  mutation.compares.push_back(unchanged(from));
  if (from.key == input.to.bucket.key) {
    SYMNAS_TRY(set_entry(from, input));
    mutation.writes.push_back(put_bucket(from));
    return {};
  }
  Bucket to = input.to.bucket;
  SYMNAS_TRY(set_entry(to, input));
  mutation.compares.push_back(unchanged(to));
  mutation.writes.push_back(put_bucket(from));
  mutation.writes.push_back(put_bucket(to));
  return {};
}

// A directory must not become its own ancestor. The walk is correct together with the compare of
// the move key, which must have been read before the walk: then the parents seen here are those at
// the commit.
Status check_no_cycle(Context& context, Ino moved, const Node& new_parent) {
  Ino at = new_parent.ino;
  Ino above{new_parent.record.parent()};
  for (int depth = 0; depth < kDirectoryDepthMax; ++depth) {
    if (at == moved)
      return fail(ErrorCode::kInvalidArgument, "directory: cannot be moved into itself");
    if (at == kRootIno) return {};
    SYMNAS_ASSIGN(const std::optional<Node> node, find_node(context, above));
    if (!node) return fail(ErrorCode::kConflict, "parent directory: removed meanwhile");
    at = node->ino;
    above = Ino{node->record.parent()};
  }
  return fail(ErrorCode::kInvalidArgument,
              "directory: deeper than " + std::to_string(kDirectoryDepthMax) + " levels");
}

Result<Revision> read_move_key(Context& context) {
  SYMNAS_ASSIGN(const kv::CachedValue move,
                context.session.read(kv::keys::directory_move(context.fs)));
  return move.value ? move.mod_revision : Revision{0};
}

// The fate of the inode that `to` names.
struct Replaced {
  std::optional<LinkDrop> file;
  TxnPart part;
};
Result<Replaced> replace_target(Context& context, const RenameInput& input) {
  Replaced out;
  if (input.target == nullptr) return out;
  if (input.target->is_directory()) {
    SYMNAS_TRY(check_empty(context, input.target->ino, input.to.name));  // why: rmdir.cc
    out.part = plan_directory_removal(context.fs, *input.target);
    SYMNAS_ASSIGN(const TxnPart tree, tree_of_removed(context, *input.target));
    tree.add_to(out.part);
    return out;
  }
  SYMNAS_ASSIGN(LinkDrop drop, LinkDrop::prepare(context, *input.target, input.now_ns));
  out.part = drop.part();
  out.file.emplace(std::move(drop));
  return out;
}

bool name_one_inode(const Place& from, const Place& to) {
  return from.entry() != nullptr && to.entry() != nullptr &&
         from.entry()->ino() == to.entry()->ino();
}

bool same_bucket(const Place& before, const Place& now) {
  return before.bucket.mod_revision == now.bucket.mod_revision;
}

struct Turns {
  DirectoryTurn from;
  std::optional<DirectoryTurn> to;  // only if it is another directory
  const DirectoryTurn& second() const { return to ? *to : from; }
};

Result<Renamed> try_rename(Context& context, RenameInput input, int attempt, const Turns& turns) {
  SYMNAS_TRY(check_rename(input));
  std::optional<Revision> move;
  if (input.moves_directory()) {
    SYMNAS_ASSIGN(move, read_move_key(context));
    // Without the barrier the move key in the cache may be younger than the cached parents: it was
    // loaded later, or put by this mount. So it may on a sole mount, while the reply to a change of
    // this mount is under way.
    SYMNAS_TRY(context.session.barrier());
    SYMNAS_TRY(check_no_cycle(context, input.source.ino, input.to.directory.node));
  }
  SYMNAS_ASSIGN(const TreesOfChange trees,
                trees_of_rename(context, {input.source, input.from, input.to, move}));
  input.tree = trees.number;
  input.now_ns = context.session.next_time_ns();
  SYMNAS_ASSIGN(Replaced replaced, replace_target(context, input));
  SYMNAS_ASSIGN(kv::Mutation mutation, plan_rename(input, replaced.part, move));
  trees.part.add_to(mutation);
  SYMNAS_ASSIGN(const kv::Committed done, commit_call(context, std::move(mutation)));
  if (replaced.file) replaced.file->committed();
  return Renamed{
      change_of(context, input.from.directory, input.now_ns, done, pre_of(attempt, turns.from)),
      change_of(context, input.to.directory, input.now_ns, done, pre_of(attempt, turns.second()))};
}

}  // namespace

Status check_rename(const RenameInput& input) {
  const Node& source = input.source;
  SYMNAS_TRY(check_delete(input.who, input.from.record(), source.record));
  SYMNAS_TRY(check_add(input.who, input.to.record(), source.type()));
  if (input.moves_directory())  // its ".." is written
    SYMNAS_TRY(check_access(input.who, source.record, kMayWrite));
  if (input.target == nullptr) return {};
  SYMNAS_TRY(check_delete(input.who, input.to.record(), input.target->record));
  if (source.is_directory() && !input.target->is_directory())
    return fail(ErrorCode::kNotDirectory, input.to.name + ": exists and is not a directory");
  if (!source.is_directory() && input.target->is_directory())
    return fail(ErrorCode::kIsDirectory, input.to.name + ": exists and is a directory");
  if (input.target->ino == input.from.ino())
    return fail(ErrorCode::kNotEmpty, input.to.name + ": holds what is to be renamed");
  return {};
}

Result<kv::Mutation> plan_rename(const RenameInput& input, const TxnPart& drop,
                                 const std::optional<Revision>& directory_move) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.compares = {unchanged(input.fs, input.from.directory.node)};
  if (input.between_directories())
    mutation.compares.push_back(unchanged(input.fs, input.to.directory.node));
  SYMNAS_TRY(add_buckets(input, mutation));
  mutation.compares.push_back(unchanged(input.fs, input.source));

  records::Inode moved = input.source.record;
  moved.set_ctime_ns(input.now_ns);
  if (input.tree) moved.set_tree(*input.tree);
  if (input.moves_directory()) moved.set_parent(input.to.ino().value());
  mutation.writes.push_back(put_inode(input.fs, input.source.ino, moved));
  if (directory_move) {
    const std::string key = kv::keys::directory_move(input.fs);
    mutation.compares.push_back(kv::mod_revision_is(key, *directory_move));
    mutation.writes.push_back(kv::put(key, ""));
  }
  drop.add_to(mutation);
  mutation.merged_puts = {touch(input.fs, input.from.ino(), input.now_ns)};
  if (input.between_directories())
    mutation.merged_puts.push_back(touch(input.fs, input.to.ino(), input.now_ns));
  return mutation;
}

Result<Renamed> rename(Context& context, const Credentials& who, const Handle& from_dir,
                       const std::string& from_name, const Handle& to_dir,
                       const std::string& to_name) {
  Turns turns{DirectoryTurn(context, from_dir.ino), std::nullopt};
  if (from_dir.ino != to_dir.ino) turns.to.emplace(context, to_dir.ino);
  auto result = retry_conflicts(context, [&](int attempt) -> Result<Renamed> {
    SYMNAS_ASSIGN(const Place from, read_place(context, from_dir, from_name));
    SYMNAS_ASSIGN(const Place to, read_place(context, to_dir, to_name));
    if (from.entry() == nullptr) return fail(ErrorCode::kNotFound, from_name + ": no such name");
    if (name_one_inode(from, to)) {
      // No transaction will confirm that both names lead to one inode, and each was looked at at
      // another moment. Names that have not changed after both were read led to one inode at one
      // moment. A sole mount needs the barrier, too: one name may have been loaded and the other
      // one cached while the reply to a change of this mount was under way.
      SYMNAS_TRY(context.session.barrier());
      SYMNAS_ASSIGN(const Place from_now, read_place(context, from_dir, from_name));
      SYMNAS_ASSIGN(const Place to_now, read_place(context, to_dir, to_name));
      if (!same_bucket(from, from_now) || !same_bucket(to, to_now))
        return fail(ErrorCode::kConflict, from_name + ": changed between two looks at it");
      return Renamed{no_change(context, from_now.directory), no_change(context, to_now.directory)};
    }
    SYMNAS_ASSIGN(const Node source, read_target(context, from));
    std::optional<Node> target;
    if (to.entry() != nullptr) {
      SYMNAS_ASSIGN(target, read_target(context, to));
    }
    const RenameInput input{context.fs, who, from, to, source, target ? &*target : nullptr};
    return try_rename(context, input, attempt, turns);
  });
  if (!result) {
    sweep_times(context, from_dir.ino);
    sweep_times(context, to_dir.ino);
  }
  return result;
}

}  // namespace symnas::fs
