#include "fsal_cluster/ops/link.h"

#include <utility>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/directory_change.h"
#include "fsal_cluster/ops/quota.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/schema/dirent.h"

namespace symnas::fs {
namespace {

Status check_target(const Node& target, const std::string& name) {
  if (target.is_directory())
    return fail(ErrorCode::kIsDirectory, name + ": directories have one name");
  if (target.record.nlink() == 0)
    return fail(ErrorCode::kStale, name + ": the file's last name is gone");
  if (target.record.nlink() >= kLinkMax)
    return fail(ErrorCode::kTooManyLinks,
                name + ": the file has " + std::to_string(kLinkMax) + " names already");
  return {};
}

}  // namespace

Status check_link(const Credentials& who, const Node& target, const Place& place) {
  SYMNAS_TRY(check_access(who, place.record(), kMayExecute));
  SYMNAS_TRY(check_target(target, place.name));
  if (place.entry() != nullptr)
    return fail(ErrorCode::kAlreadyExists, place.name + ": exists already");
  return check_add(who, place.record(), target.type());
}

Result<kv::Mutation> plan_link(FsId fs, const Node& target, const Place& place,
                               std::int64_t now_ns) {
  records::Inode inode = target.record;
  inode.set_nlink(inode.nlink() + 1);
  inode.set_ctime_ns(now_ns);
  Bucket bucket = place.bucket;
  SYMNAS_TRY(add_entry(bucket.record, place.name, target.ino, target.type()));
  kv::Mutation mutation;
  mutation.compares = {unchanged(fs, place.directory.node), unchanged(bucket),
                       unchanged(fs, target)};
  mutation.writes = {put_inode(fs, target.ino, inode), put_bucket(bucket)};
  mutation.merged_puts = {touch(fs, place.ino(), now_ns)};
  return mutation;
}

Result<DirectoryChange> link(Context& context, const Credentials& who, const Handle& target,
                             const Handle& directory, const std::string& name) {
  return retry_in_directory(
      context, directory.ino,
      [&](int attempt, const DirectoryTurn& turn) -> Result<DirectoryChange> {
        SYMNAS_ASSIGN(Node node, require_node(context, target));
        SYMNAS_ASSIGN(const Place place, read_place(context, directory, name));
        SYMNAS_TRY(check_link(who, node, place));
        const std::int64_t now_ns = context.session.next_time_ns();
        SYMNAS_ASSIGN(const TreesOfChange trees, trees_of_link(context, node, place));
        if (trees.number) node.record.set_tree(*trees.number);
        SYMNAS_ASSIGN(kv::Mutation mutation, plan_link(context.fs, node, place, now_ns));
        trees.part.add_to(mutation);
        SYMNAS_ASSIGN(const kv::Committed done, commit_call(context, std::move(mutation)));
        return change_of(context, place.directory, now_ns, done, pre_of(attempt, turn));
      });
}

}  // namespace symnas::fs
