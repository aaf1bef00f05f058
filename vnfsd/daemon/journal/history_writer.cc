#include "vnfsd/daemon/journal/history_writer.h"

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/tenure.h"
#include "vnfsd/records/history.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

std::string text_of(const Transition& last) {
  std::string text = name_of(last.cause);
  if (!last.from.empty()) text += " from " + last.from;
  if (last.blackout_ms >= 0) text += fmt::format(", {} ms without an answer", last.blackout_ms);
  for (const records::Step& step : last.steps) {
    text += fmt::format("; {} {}", step.name(), (step.at_ns() - last.began_ns) / 1'000'000);
  }
  if (last.kept != 0) text += fmt::format("; {} requests left to this head", last.kept);
  if (!last.error.empty()) text += "; " + last.error;
  return text;
}

records::EventRecord event_of(const std::string& vnfs, const Transition& last,
                              std::int64_t now_ns) {
  std::string text = fmt::format("vnfs {}: served by {}", vnfs, last.to);
  if (!last.from.empty() && last.from != last.to) text += ", before by " + last.from;
  if (last.blackout_ms >= 0) text += fmt::format("; {} ms without an answer", last.blackout_ms);
  if (!last.error.empty()) text += "; " + last.error;
  records::EventRecord event = make_event(name_of(last.cause), text, now_ns);
  if (last.blackout_ms >= 0) event.set_blackout_ms(last.blackout_ms);
  return event;
}

}  // namespace

void HistoryWriter::note_arrival(const std::string& vnfs, const instance::Arrival& arrival) {
  if (arrival.epoch == Epoch{}) return;  // adopted: it was noted when it began
  const auto noted = [&]() -> Status {
    SYMNAS_ASSIGN(auto tenures, read_history(head_.store, vnfs, kStoreDeadlineMs));
    kv::Txn txn;
    records::TenureRecord now;
    now.set_epoch(arrival.epoch.value());
    now.set_head(head_.config.head_name);
    *now.mutable_arrival() = arrival.steps;
    for (records::TenureRecord& tenure : tenures) {
      if (tenure.epoch() != arrival.last.epoch() || arrival.last.epoch() == 0) continue;
      *tenure.mutable_departure() = arrival.last;
      txn.success.push_back(put_tenure(vnfs, tenure));
    }
    for (std::size_t i = 0; i + kHistoryMax <= tenures.size(); ++i) {
      txn.success.push_back(kv::erase(kv::keys::history(vnfs, Epoch(tenures[i].epoch()))));
    }
    txn.success.push_back(put_tenure(vnfs, now));
    tenures.push_back(now);
    const Transition last = transitions(tenures).back();
    log::info("vnfs {}: {}", vnfs, text_of(last));
    events_.add(txn, event_of(vnfs, last, head_.clock.wall_ns()));
    {
      const MutexLock lock(mutex_);
      Arrivals& arrivals = arrivals_[vnfs][name_of(last.cause)];
      ++arrivals.count;
      if (last.blackout_ms >= 0) {
        ++arrivals.timed;
        arrivals.blackout_ms += last.blackout_ms;
        arrivals.blackouts.observe(static_cast<double>(last.blackout_ms) / 1000);
      }
    }
    SYMNAS_ASSIGN(const auto done, kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
    (void)done;
    return {};
  }();
  if (!noted) log::warn("vnfs {}: its history: {}", vnfs, noted.error().message);
}

void HistoryWriter::note_departure(const std::string& vnfs, const records::Departure& departure) {
  if (departure.epoch() == 0) return;
  const auto noted = [&]() -> Status {
    SYMNAS_ASSIGN(auto tenures, read_history(head_.store, vnfs, kStoreDeadlineMs));
    for (records::TenureRecord& tenure : tenures) {
      if (tenure.epoch() != departure.epoch()) continue;
      *tenure.mutable_departure() = departure;
      kv::Txn txn;
      txn.success.push_back(put_tenure(vnfs, tenure));
      SYMNAS_ASSIGN(const auto done,
                    kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
      (void)done;
    }
    return {};
  }();
  if (!noted) log::warn("vnfs {}: its history: {}", vnfs, noted.error().message);
}

std::map<std::string, std::map<std::string, Arrivals>> HistoryWriter::arrivals() const {
  const MutexLock lock(mutex_);
  return arrivals_;
}

}  // namespace symnas::vnfsd::daemon
