// Agent: writes down what happens (vnfsd/records/events.h). Nothing waits for it, and nothing fails
// with it: what etcd does not take is only in the log.
#include <algorithm>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/event_keys.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// What several heads see at once: it is written if it is not the last that was written of its kind
// of thing.
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

// Events are the first that a full etcd goes without: failovers need its last room.
std::optional<kv::Op> Agent::event_op(records::EventRecord event) {
  const bool full = quota_.level() == kv::QuotaLevel::kCritical && event.kind() != event::kQuota;
  return full ? std::nullopt : event_ring_.put(std::move(event));
}

void Agent::add_event(kv::Txn& txn, records::EventRecord event) {
  if (auto op = event_op(std::move(event))) txn.success.push_back(std::move(*op));
}

Result<std::string> Agent::commit(const Planner& planner, Mode mode) {
  const Planner allowed = [&](const ClusterView& view) -> Result<Change> {
    SYMNAS_TRY(check_not_removed(view));  // the removal is a change, so none comes between
    return planner(view);
  };
  return make_change(store_, allowed, mode,
                     [this](records::EventRecord event) { return event_op(std::move(event)); });
}

void Agent::tell(std::string_view kind, const std::string& text) {
  {
    const std::scoped_lock lock(mutex_);
    if (told_.size() >= kEventsWaitingMax) told_.pop_front();
    told_.push_back(make_event(kind, text, clock_.wall_ns()));
  }
  changed_.notify_all();
}

void Agent::write_told_events() {
  for (;;) {
    records::EventRecord event;
    {
      const std::scoped_lock lock(mutex_);
      if (told_.empty() || !ready_) return;
      event = std::move(told_.front());
      told_.pop_front();
    }
    const Status written = write_told(event);
    if (!written) log::warn("event not written: {}: {}", event.text(), written.error().message);
  }
}

Status Agent::write_told(const records::EventRecord& event) {
  if (seen_by_all(event)) {
    SYMNAS_ASSIGN(const EventPage page, read_events(store_, Revision{}, kStoreDeadlineMs));
    if (was_written(page, event)) return {};
  }
  kv::Txn txn;
  add_event(txn, event);
  if (txn.success.empty()) return {};
  SYMNAS_TRY(kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
  return {};
}

void Agent::ended(const std::string& vnfs, Epoch epoch, const std::string& how) {
  tell(event::kEnded, fmt::format("vnfs {}: its instance on {}, epoch {}, ended: {}", vnfs,
                                  config_.head_name, epoch.value(), how));
  if (reservations_) reservations_->doubt();
}

// Says when the last of its VNFSs has gone.
void Agent::look_at_drain(const ClusterView& view) {
  const auto self = view.heads.find(config_.head_name);
  const bool draining = self != view.heads.end() && self->second.record.draining();
  const bool owns = std::any_of(view.owners.begin(), view.owners.end(), [&](const auto& owner) {
    return owner.second.record.head() == config_.head_name;
  });
  if (drains_ && draining && !owns)
    tell(event::kHeadDrained, fmt::format("head {}: is drained", config_.head_name));
  drains_ = draining && owns;
}

Result<nlohmann::json> Agent::events(Revision after) {
  SYMNAS_TRY(wait_ready());
  SYMNAS_ASSIGN(const EventPage page, read_events(store_, after, kStoreDeadlineMs));
  return events_document(page);
}

}  // namespace symnas::vnfsd::daemon
