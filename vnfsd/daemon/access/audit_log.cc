#include "vnfsd/daemon/access/audit_log.h"

#include <algorithm>
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
    if (waiting_.size() >= kAuditWaitingMax) waiting_.pop_front();
    waiting_.push_back(std::move(entry));
  }
  loop_.wake();
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

Status AuditLog::write_one(records::AuditRecord entry, std::int64_t deadline_ms) {
  const std::string& name = head_.config.head_name;
  if (next_ == 0) {
    SYMNAS_ASSIGN(const kv::OpResult read,
                  kv::range_blocking(head_.store, kv::prefix_range(kv::keys::kAudit + name + "/"),
                                     0, deadline_ms));
    std::uint64_t last = 0;
    for (const kv::KeyValue& kv : read.kvs) {
      records::AuditRecord record;
      if (record.ParseFromString(kv.value)) last = std::max(last, record.sequence());
    }
    next_ = last + 1;
  }
  entry.set_sequence(next_);
  kv::Txn txn;
  txn.success.push_back(
      kv::put(kv::keys::audit(name, next_ % kAuditPerHead), entry.SerializeAsString()));
  // Of unknown outcome: it is written again, in the same place.
  SYMNAS_TRY(kv::txn_blocking(head_.store, std::move(txn), deadline_ms));
  ++next_;
  return {};
}

}  // namespace symnas::vnfsd::daemon
