#include "vnfsd/daemon/scrub/scrub_orders.h"

#include <fmt/core.h>

#include <utility>

#include "common/kv/scrub_keys.h"
#include "cvm/limits.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/limits.h"
#include "vnfsd/daemon/scrub/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using records::ScrubRecord;

constexpr int kTriesMax = 5;  // the head that reads writes the record now and then

std::string key_of(const std::string& lun) { return kv::keys::kScrubs + lun; }

Result<ScrubEntry> read(kv::Store& store, const std::string& lun) {
  SYMNAS_ASSIGN(const kv::OpResult found,
                kv::range_blocking(store, kv::single_key(key_of(lun)), 1, fs::kAdminDeadlineMs));
  ScrubEntry out;
  if (found.kvs.empty()) return out;
  out.revision = found.kvs.front().mod_revision;
  SYMNAS_ASSIGN(out.record,
                fs::parse_record<ScrubRecord>(found.kvs.front().value, "scrub of lun " + lun));
  return out;
}

Result<bool> write(kv::Store& store, const ScrubEntry& before, const ScrubRecord& record) {
  kv::Txn txn;
  txn.compares = {kv::mod_revision_is(key_of(record.lun()), before.revision)};
  txn.success = {kv::put(key_of(record.lun()), record.SerializeAsString())};
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(store, std::move(txn), fs::kAdminDeadlineMs));
  return done.succeeded;
}

tl::unexpected<Error> keeps_changing(const std::string& lun) {
  return fail(ErrorCode::kConflict, "lun " + lun + ": its scrub keeps changing; try again");
}

}  // namespace

Result<std::vector<ScrubEntry>> list_scrubs(kv::Store& store) {
  SYMNAS_ASSIGN(
      const kv::OpResult found,
      kv::range_blocking(store, kv::prefix_range(kv::keys::kScrubs), 0, fs::kAdminDeadlineMs));
  std::vector<ScrubEntry> out;
  for (const kv::KeyValue& kv : found.kvs) {
    ScrubEntry entry;
    SYMNAS_ASSIGN(entry.record, fs::parse_record<ScrubRecord>(kv.value, kv.key));
    entry.revision = kv.mod_revision;
    out.push_back(std::move(entry));
  }
  return out;
}

Result<std::string> begin_scrub(kv::Store& store, const env::Clock& clock,
                                const ScrubOrder& order) {
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    SYMNAS_ASSIGN(const ScrubEntry before, read(store, order.lun));
    const bool there = before.revision != Revision{0};
    const bool same = there && before.record.lun_uuid() == order.uuid;
    if (same && before.record.state() == ScrubRecord::RUNNING)
      return fail(ErrorCode::kBusy,
                  fmt::format("lun {}: is being scrubbed (symnas lun scrub --status)", order.lun));
    ScrubRecord record;
    const bool goes_on = same && !order.anew && before.record.state() == ScrubRecord::STOPPED &&
                         before.record.all() == order.all;
    if (goes_on) record = before.record;
    record.set_lun(order.lun);
    record.set_lun_uuid(order.uuid);
    record.set_state(ScrubRecord::RUNNING);
    record.set_all(order.all);
    record.set_bytes_per_second(order.bytes_per_second != 0 ? order.bytes_per_second
                                                            : kScrubBytesPerSecond);
    record.set_end_byte(order.end_byte);
    record.clear_head();
    if (!goes_on) {
      record.set_at_byte(cvm::kReservedBytes);
      record.set_started_ns(clock.wall_ns());
    }
    SYMNAS_ASSIGN(const bool done, write(store, before, record));
    if (done)
      return fmt::format("lun {}: the scrub {} (symnas lun scrub --status)", order.lun,
                         goes_on ? "goes on" : "begins");
  }
  return keeps_changing(order.lun);
}

Result<bool> give_up_scrub(kv::Store& store, const ScrubEntry& held) {
  ScrubRecord record = held.record;
  record.clear_head();
  return write(store, held, record);
}

Result<std::string> stop_scrub(kv::Store& store, const std::string& lun) {
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    SYMNAS_ASSIGN(ScrubEntry before, read(store, lun));
    if (before.revision == Revision{0} || before.record.state() != ScrubRecord::RUNNING)
      return fail(ErrorCode::kNotFound, "lun " + lun + ": is not being scrubbed");
    ScrubRecord record = before.record;
    record.set_state(ScrubRecord::STOPPED);
    SYMNAS_ASSIGN(const bool done, write(store, before, record));
    if (done) return "lun " + lun + ": the scrub is stopped; it goes on where it was";
  }
  return keeps_changing(lun);
}

}  // namespace symnas::vnfsd::daemon
