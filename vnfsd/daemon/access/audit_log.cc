#include "vnfsd/daemon/access/audit_log.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/kv/access_keys.h"
#include "vnfsd/daemon/access/limits.h"
#include "vnfsd/daemon/head/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// In quotes, ASCII, without control characters: nobody can forge a line.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string audit_line(const records::AuditRecord& entry) {
  return fmt::format(
      "audit: who={} role={} from={} certificate={} login_uid={} request={} outcome={} text={}",
      quoted(entry.who()), entry.role(), quoted(entry.from()), quoted(entry.certificate()),
      quoted(entry.login_uid()), quoted(entry.method() + " " + entry.path()), entry.outcome(),
      quoted(entry.text()));
}

AuditLog::AuditLog(const ThisHead& head) : head_(head), loop_(end_.get_token()) {
  loop_.start(kAuditRetryMs, [this] { write(kStoreDeadlineMs); });
}

AuditLog::~AuditLog() {
  end_.request_stop();
  loop_.join();
  write(kAuditEndMs);
}

void AuditLog::record(records::AuditRecord entry) {
  entry.set_path(entry.path().substr(0, kAuditTextBytesMax));
  entry.set_text(entry.text().substr(0, kAuditTextBytesMax));
  entry.set_at_ns(head_.clock.wall_ns());
  // Whatever the level of the log is; one write, so that no other line comes between.
  std::fputs((audit_line(entry) + "\n").c_str(), stderr);
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= kAuditWaitingMax) drop_one();
    waiting_.push_back(std::move(entry));
  }
  loop_.wake();
}

void AuditLog::drop_one() {
  const auto nothing = std::find_if_not(waiting_.begin(), waiting_.end(), changed_something);
  waiting_.erase(nothing == waiting_.end() ? waiting_.begin() : nothing);
}

void AuditLog::write(std::int64_t deadline_ms) {
  for (;;) {
    records::AuditRecord entry;
    {
      const MutexLock lock(mutex_);
      if (waiting_.empty()) return;
      entry = waiting_.front();
    }
    if (!write_one(entry, deadline_ms)) return;
    const MutexLock lock(mutex_);
    if (!waiting_.empty() && waiting_.front().at_ns() == entry.at_ns()) waiting_.pop_front();
  }
}

Status AuditLog::read_slots(std::int64_t deadline_ms) {
  const std::string prefix = kv::keys::kAudit + head_.config.head_name + "/";
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(head_.store, kv::prefix_range(prefix), 0, deadline_ms));
  AuditSlots slots;
  for (const kv::KeyValue& kv : read.kvs) {
    records::AuditRecord record;
    std::uint64_t slot = 0;
    const char* const end = kv.key.data() + kv.key.size();
    const auto parsed = std::from_chars(kv.key.data() + prefix.size(), end, slot, 16);
    if (parsed.ec != std::errc() || parsed.ptr != end || slot >= kAuditPerHead) continue;
    if (record.ParseFromString(kv.value)) slots.put(slot, record);
  }
  slots_ = std::move(slots);
  return {};
}

Status AuditLog::write_one(records::AuditRecord entry, std::int64_t deadline_ms) {
  if (!slots_) SYMNAS_TRY(read_slots(deadline_ms));
  entry.set_sequence(slots_->next_sequence());
  const std::uint64_t slot = slots_->slot_for(entry);
  kv::Txn txn;
  txn.success.push_back(
      kv::put(kv::keys::audit(head_.config.head_name, slot), entry.SerializeAsString()));
  // Of unknown outcome: it is written again, in the same place.
  SYMNAS_TRY(kv::txn_blocking(head_.store, std::move(txn), deadline_ms));
  slots_->put(slot, entry);
  return {};
}

}  // namespace symnas::vnfsd::daemon
