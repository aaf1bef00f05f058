#include "fsal_cluster/ops/rmdir.h"

#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/directory_change.h"
#include "fsal_cluster/ops/quota.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/ops/unlink.h"
#include "fsal_cluster/ops/xattrs.h"

namespace symnas::fs {

Status check_rmdir(const Credentials& who, const Place& place, const Node& target) {
  SYMNAS_TRY(check_delete(who, place.record(), target.record));
  if (!target.is_directory())
    return fail(ErrorCode::kNotDirectory, place.name + ": not a directory");
  return {};
}

TxnPart plan_directory_removal(FsId fs, const Node& directory) {
  TxnPart part;
  part.compares = {unchanged(fs, directory),
                   kv::range_absent(kv::prefix_range(kv::keys::dirent_prefix(fs, directory.ino)))};
  part.writes = {kv::erase(kv::keys::inode(fs, directory.ino)),
                 kv::erase(kv::keys::directory_times(fs, directory.ino))};
  erase_xattrs(fs, directory, part.writes);
  return part;
}

kv::Mutation plan_rmdir(FsId fs, const Place& place, const Node& target, std::int64_t now_ns) {
  return plan_unlink(fs, place, plan_directory_removal(fs, target), now_ns);
}

Status check_empty(Context& context, Ino directory, const std::string& name) {
  SYMNAS_ASSIGN(
      const kv::OpResult found,
      context.session.range(kv::prefix_range(kv::keys::dirent_prefix(context.fs, directory)), 1));
  if (found.kvs.empty()) return {};
  return fail(ErrorCode::kNotEmpty, name + ": directory is not empty");
}

Result<DirectoryChange> rmdir(Context& context, const Credentials& who, const Handle& directory,
                              const std::string& name) {
  return retry_in_directory(
      context, directory.ino,
      [&](int attempt, const DirectoryTurn& turn) -> Result<DirectoryChange> {
        SYMNAS_ASSIGN(const Place place, read_place(context, directory, name));
        if (place.entry() == nullptr) return fail(ErrorCode::kNotFound, name + ": no such name");
        SYMNAS_ASSIGN(const Node target, read_target(context, place));
        SYMNAS_TRY(check_rmdir(who, place, target));
        // Checked before the transaction compares it: a refused operation of a batch would still
        // put the parent's times, which belong to the batch and not to the operation
        // (docs/design.md 5.2).
        SYMNAS_TRY(check_empty(context, target.ino, name));
        const std::int64_t now_ns = context.session.next_time_ns();
        SYMNAS_ASSIGN(const TxnPart tree, tree_of_removed(context, target));
        kv::Mutation mutation = plan_rmdir(context.fs, place, target, now_ns);
        tree.add_to(mutation);
        SYMNAS_ASSIGN(const kv::Committed done, commit_call(context, std::move(mutation)));
        return change_of(context, place.directory, now_ns, done, pre_of(attempt, turn));
      });
}

}  // namespace symnas::fs
