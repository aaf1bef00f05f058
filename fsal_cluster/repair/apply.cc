#include "fsal_cluster/repair/apply.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "common/kv/repair_keys.h"
#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repair_log.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/schema/stamp.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;

bool is_watched(FsId fs, const std::string& key) { return kv::contains(keys::watched(fs), key); }

// The stamp of the step. One that is missing or misshapen is put by the wall clock.
StampAdvance stamp_of(FsId fs, const kv::OpResult& read, int attempt, std::int64_t wall_ns) {
  const bool sound = !read.kvs.empty() && read.kvs.front().value.size() == sizeof wall_ns;
  if (sound) return advance_stamp(fs, read, attempt);
  const std::string key = keys::stamp(fs);
  const Revision seen = read.kvs.empty() ? Revision{0} : read.kvs.front().mod_revision;
  return {kv::mod_revision_is(key, seen), kv::put(key, encode_stamp(wall_ns))};
}

// What is put: a file whose contents have changed gets the time of the step.
std::string value_of(const Step& step, const Change& change, const StampAdvance& stamp) {
  const auto& files = step.changed_files;
  records::Inode inode;
  if (std::find(files.begin(), files.end(), change.key) == files.end() ||
      !inode.ParseFromString(*change.after))
    return *change.after;
  const auto time_ns = static_cast<std::int64_t>(read_be64(stamp.put.value, 0));
  inode.set_mtime_ns(time_ns);
  inode.set_ctime_ns(time_ns);
  return inode.SerializeAsString();
}

// One try: the transaction without what it is decided by.
kv::Txn transaction_of(const Plan& plan, const Step& step, const StampAdvance& stamp) {
  kv::Txn txn;
  txn.compares = step.compares;
  txn.compares.push_back(kv::key_exists(keys::kFilesystems + plan.filesystem));
  bool stamped = step.puts_stamp || !step.changed_directories.empty();
  std::set<std::string> changed;
  for (const Change& change : step.changes) {
    stamped = stamped || is_watched(plan.fs, change.key);
    changed.insert(change.key);
    txn.success.push_back(change.after ? kv::put(change.key, value_of(step, change, stamp))
                                       : kv::erase(change.key));
  }
  if (!stamped) return txn;
  txn.compares.push_back(stamp.compare);
  txn.success.push_back(stamp.put);
  for (const Ino directory : step.changed_directories) {
    const std::string key = keys::directory_times(plan.fs, directory);
    if (!changed.insert(key).second) continue;
    records::DirectoryTimes times;
    times.set_time_ns(static_cast<std::int64_t>(read_be64(stamp.put.value, 0)));
    txn.success.push_back(kv::put(key, times.SerializeAsString()));
  }
  return txn;
}

}  // namespace

Result<Applied> apply_step(kv::Store& store, const env::Clock& clock, const Plan& plan,
                           std::size_t number, const std::string& head) {
  const Step& step = plan.steps[number];
  const std::string log_key = keys::repair(plan.fs, plan.revision, number);
  const std::string log = record_of(plan, step, head, clock.wall_ns()).SerializeAsString();
  std::optional<Error> full;
  for (int attempt = 0; attempt < kApplyTriesMax; ++attempt) {
    kv::Txn look;
    look.success = {kv::get(keys::stamp(plan.fs)), kv::get(log_key)};
    for (const kv::Compare& compare : step.compares) look.compares.push_back(compare);
    look.failure = {kv::get(log_key)};
    SYMNAS_ASSIGN(const kv::TxnResult seen,
                  kv::txn_blocking(store, std::move(look), kAdminDeadlineMs));
    // An earlier try may have done it.
    if (!seen.results.back().kvs.empty()) return Applied::kDone;
    if (!seen.succeeded) return Applied::kChanged;
    if (full) return tl::unexpected<Error>(*full);
    kv::Txn txn = transaction_of(plan, step,
                                 stamp_of(plan.fs, seen.results.front(), attempt, clock.wall_ns()));
    txn.compares.push_back(kv::key_absent(log_key));
    txn.success.push_back(kv::put(log_key, log));
    const auto done = kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs);
    if (done && done->succeeded) return Applied::kDone;
    if (!done && !kv::maybe_executed(done.error())) return tl::unexpected<Error>(done.error());
    if (!done && done.error().code == ErrorCode::kNoSpace) full = done.error();
  }
  return fail(ErrorCode::kConflict,
              fmt::format("fs {}: the filesystem's stamp keeps changing; run the repair again",
                          plan.filesystem));
}

Result<std::vector<Outcome>> apply_plan(kv::Store& store, const env::Clock& clock, const Plan& plan,
                                        const std::string& head,
                                        const std::function<Status(const Outcome&)>& told) {
  SYMNAS_ASSIGN(std::uint64_t log_bytes, trim_log(store, plan.fs, clock.wall_ns()));
  std::vector<Outcome> out;
  for (std::size_t number = 0; number < plan.steps.size(); ++number) {
    const Step& step = plan.steps[number];
    if (!plan.is_due(step)) continue;
    log_bytes += record_of(plan, step, head, clock.wall_ns()).ByteSizeLong();
    SYMNAS_TRY(check_log_room(plan, log_bytes));
    SYMNAS_ASSIGN(const Applied applied, apply_step(store, clock, plan, number, head));
    out.push_back({number, applied});
    SYMNAS_TRY(told(out.back()));
  }
  return out;
}

}  // namespace symnas::fs::repair
