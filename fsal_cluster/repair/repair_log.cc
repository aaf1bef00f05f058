#include "fsal_cluster/repair/repair_log.h"

#include <utility>

#include <fmt/core.h>

#include "common/kv/repair_keys.h"
#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::repair {

records::RepairRecord record_of(const Plan& plan, const Step& step, const std::string& head,
                                std::int64_t wall_ns) {
  records::RepairRecord record;
  record.set_filesystem(plan.filesystem);
  record.set_finding(step.object);
  record.set_action(step.text);
  record.set_head(head);
  record.set_at_ns(wall_ns);
  record.set_checked_revision(plan.revision.value());
  for (const Change& change : step.changes) {
    records::RepairRecord::Change& out = *record.add_changes();
    out.set_key(change.key);
    if (change.before) out.set_before(*change.before);
    if (change.after) out.set_after(*change.after);
  }
  return record;
}

Result<std::vector<records::RepairRecord>> read_log(kv::Store& store, FsId fs) {
  std::vector<records::RepairRecord> out;
  kv::KeyRange rest = kv::prefix_range(kv::keys::repairs_of(fs));
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page,
                  kv::range_blocking(store, rest, kLogPage, kAdminDeadlineMs));
    for (const kv::KeyValue& kv : page.kvs) {
      SYMNAS_ASSIGN(records::RepairRecord record,
                    parse_record<records::RepairRecord>(kv.value, kv.key));
      out.push_back(std::move(record));
    }
    if (!page.more || page.kvs.empty()) return out;
    rest.key = page.kvs.back().key + '\0';
  }
}

Result<std::uint64_t> trim_log(kv::Store& store, FsId fs, std::int64_t wall_ns) {
  struct Kept {
    std::string key;
    std::uint64_t bytes = 0;
    std::int64_t at_ns = 0;
  };
  std::vector<Kept> all;
  std::uint64_t bytes = 0;
  kv::KeyRange rest = kv::prefix_range(kv::keys::repairs_of(fs));
  for (bool more = true; more;) {
    SYMNAS_ASSIGN(const kv::OpResult page,
                  kv::range_blocking(store, rest, kLogPage, kAdminDeadlineMs));
    for (const kv::KeyValue& kv : page.kvs) {
      records::RepairRecord record;
      const bool read = record.ParseFromString(kv.value);
      all.push_back({kv.key, kv.key.size() + kv.value.size(), read ? record.at_ns() : 0});
      bytes += all.back().bytes;
    }
    more = page.more && !page.kvs.empty();
    if (more) rest.key = page.kvs.back().key + '\0';
  }
  std::size_t gone = 0;
  for (; gone < all.size(); ++gone) {
    const bool fits = all.size() - gone <= kLogRecordsMax && bytes <= kLogBytesMax;
    if (fits || all[gone].at_ns > wall_ns - kLogKeepNs) break;
    bytes -= all[gone].bytes;
  }
  if (gone == 0) return bytes;
  kv::Txn erase;
  erase.success = {kv::erase_range({all.front().key, all[gone - 1].key + '\0'})};
  SYMNAS_TRY(kv::txn_blocking(store, std::move(erase), kAdminDeadlineMs));
  return bytes;
}

Status check_log_room(const Plan& plan, std::uint64_t bytes) {
  if (bytes <= kLogBytesMax) return {};
  return fail(ErrorCode::kNoSpace,
              fmt::format("fs {}: the records of the repairs of the last {} hours take {} MiB, no "
                          "more are kept: look whether the repairs are right, then run the repair "
                          "again {} hours after them, which erases the old records",
                          plan.filesystem, kLogKeepNs / 3'600'000'000'000, kLogBytesMax >> 20,
                          kLogKeepNs / 3'600'000'000'000));
}

}  // namespace symnas::fs::repair
