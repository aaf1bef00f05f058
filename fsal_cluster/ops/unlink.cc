#include "fsal_cluster/ops/unlink.h"

#include <utility>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/directory_change.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/schema/dirent.h"

namespace symnas::fs {

Status check_unlink(const Credentials& who, const Place& place, const Node& target) {
  SYMNAS_TRY(check_delete(who, place.record(), target.record));
  if (target.is_directory()) return fail(ErrorCode::kIsDirectory, place.name + ": is a directory");
  return {};
}

kv::Mutation plan_unlink(FsId fs, const Place& place, const TxnPart& drop, std::int64_t now_ns) {
  Bucket bucket = place.bucket;
  remove_entry(bucket.record, place.name);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {unchanged(fs, place.directory.node), unchanged(bucket)};
  mutation.writes = {put_bucket(bucket)};
  mutation.merged_puts = {touch(fs, place.ino(), now_ns)};
  drop.add_to(mutation);
  return mutation;
}

Result<DirectoryChange> unlink(Context& context, const Credentials& who, const Handle& directory,
                               const std::string& name) {
  return retry_in_directory(
      context, directory.ino,
      [&](int attempt, const DirectoryTurn& turn) -> Result<DirectoryChange> {
        SYMNAS_ASSIGN(const Place place, read_place(context, directory, name));
        if (place.entry() == nullptr) return fail(ErrorCode::kNotFound, name + ": no such name");
        SYMNAS_ASSIGN(const Node target, read_target(context, place));
        SYMNAS_TRY(check_unlink(who, place, target));
        const std::int64_t now_ns = context.session.next_time_ns();
        SYMNAS_ASSIGN(LinkDrop drop, LinkDrop::prepare(context, target, now_ns));
        SYMNAS_ASSIGN(const kv::Committed done,
                      commit_call(context, plan_unlink(context.fs, place, drop.part(), now_ns)));
        drop.committed();
        return change_of(context, place.directory, now_ns, done, pre_of(attempt, turn));
      });
}

}  // namespace symnas::fs
