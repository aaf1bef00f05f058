#include "vnfsd/daemon/journal/event_writer.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/event_keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// The events that several heads see at once. One of these is written only if it is not already the
// last event about the same thing (was_written()).
bool seen_by_all(const records::EventRecord& event) {
  return event.kind() == event::kQuota || event.kind() == event::kHeadSilent ||
         event.kind() == event::kHeadHeard;
}

bool same_thing(const records::EventRecord& a, const records::EventRecord& b) {
  if (a.kind() == event::kQuota || b.kind() == event::kQuota) return a.kind() == b.kind();
  return a.head() == b.head() && !a.head().empty();
}

bool was_written(const EventPage& page, const records::EventRecord& event) {
  const auto last = std::find_if(page.events.rbegin(), page.events.rend(),
                                 [&](const auto& one) { return same_thing(one.record, event); });
  if (last == page.events.rend()) return false;
  if (event.kind() == event::kQuota) return last->record.text() == event.text();
  // A head that has started again, or was fenced, is heard of in those events.
  return event.kind() == event::kHeadHeard ? last->record.kind() != event::kHeadSilent
                                           : last->record.kind() == event.kind();
}

}  // namespace

EventWriter::EventWriter(const ThisHead& head, const kv::QuotaGauge& quota,
                         std::function<void()> told)
    : head_(head), quota_(quota), told_some_(std::move(told)), ring_(head.config.head_name) {}

Status EventWriter::resume() { return ring_.resume(head_.store, kStoreDeadlineMs); }

// Events are the first that a full etcd goes without: failovers need its last room.
std::optional<kv::Op> EventWriter::op(records::EventRecord event) {
  {
    const MutexLock lock(mutex_);
    ++counts_[event.kind()];
  }
  const bool full = quota_.level() == kv::QuotaLevel::kCritical && event.kind() != event::kQuota;
  return full ? std::nullopt : ring_.put(std::move(event));
}

void EventWriter::add(kv::Txn& txn, records::EventRecord event) {
  if (auto put = op(std::move(event))) txn.success.push_back(std::move(*put));
}

void EventWriter::tell(std::string_view kind, const std::string& text) {
  {
    const MutexLock lock(mutex_);
    if (told_.size() >= kEventsWaitingMax) told_.pop_front();
    told_.push_back(make_event(kind, text, head_.clock.wall_ns()));
  }
  told_some_();
}

void EventWriter::remind() {
  {
    const MutexLock lock(mutex_);
    if (told_.empty()) return;
  }
  told_some_();
}

std::map<std::string, std::uint64_t> EventWriter::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

bool EventWriter::write_one() {
  records::EventRecord event;
  {
    const MutexLock lock(mutex_);
    if (told_.empty()) return false;
    event = std::move(told_.front());
    told_.pop_front();
  }
  const Status written = write_told(event);
  if (!written) log::warn("event not written: {}: {}", event.text(), written.error().message);
  return true;
}

Status EventWriter::write_told(const records::EventRecord& event) {
  if (seen_by_all(event)) {
    SYMNAS_ASSIGN(const EventPage page, read_events(head_.store, Revision{}, kStoreDeadlineMs));
    if (was_written(page, event)) return {};
  }
  kv::Txn txn;
  add(txn, event);
  if (txn.success.empty()) return {};
  SYMNAS_TRY(kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  return {};
}

}  // namespace symnas::vnfsd::daemon
