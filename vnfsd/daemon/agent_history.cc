// Agent: writes down what becomes of VNFSs (vnfsd/records/history.h). Nothing waits for it, and
// nothing fails with it: what etcd does not take is missing in `vnfs history`.
#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/records/history.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

kv::Op put_tenure(const std::string& vnfs, const records::TenureRecord& tenure) {
  return kv::put(kv::keys::history(vnfs, Epoch(tenure.epoch())), tenure.SerializeAsString());
}

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

void Agent::note_arrival(const std::string& vnfs, const instance::Arrival& arrival) {
  if (arrival.epoch == Epoch{}) return;  // adopted: it was noted when it began
  const auto noted = [&]() -> Status {
    SYMNAS_ASSIGN(auto tenures, read_history(store_, vnfs, kStoreDeadlineMs));
    kv::Txn txn;
    records::TenureRecord now;
    now.set_epoch(arrival.epoch.value());
    now.set_head(config_.head_name);
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
    add_event(txn, event_of(vnfs, last, clock_.wall_ns()));
    {
      const std::scoped_lock lock(mutex_);
      Arrivals& arrivals = arrivals_[vnfs][name_of(last.cause)];
      ++arrivals.count;
      if (last.blackout_ms >= 0) {
        ++arrivals.timed;
        arrivals.blackout_ms += last.blackout_ms;
      }
    }
    SYMNAS_ASSIGN(const auto done, kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
    (void)done;
    return {};
  }();
  if (!noted) log::warn("vnfs {}: its history: {}", vnfs, noted.error().message);
}

void Agent::note_departure(const std::string& vnfs, const records::Departure& departure) {
  if (departure.epoch() == 0) return;
  const auto noted = [&]() -> Status {
    SYMNAS_ASSIGN(auto tenures, read_history(store_, vnfs, kStoreDeadlineMs));
    for (records::TenureRecord& tenure : tenures) {
      if (tenure.epoch() != departure.epoch()) continue;
      *tenure.mutable_departure() = departure;
      kv::Txn txn;
      txn.success.push_back(put_tenure(vnfs, tenure));
      SYMNAS_ASSIGN(const auto done, kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
      (void)done;
    }
    return {};
  }();
  if (!noted) log::warn("vnfs {}: its history: {}", vnfs, noted.error().message);
}

// Once a second: what the clients have done since the instance served, as far as it is news.
void Agent::note_later() {
  std::map<std::string, Later> serving;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [vnfs, supervisor] : supervisors_) {
      const instance::InstanceSnapshot snapshot = supervisor->snapshot();
      if (snapshot.state != "serving") continue;
      serving[vnfs] = {snapshot.epoch, snapshot.first_request_ns, snapshot.last_reclaim_ns};
    }
  }
  std::erase_if(later_, [&](const auto& known) { return !serving.contains(known.first); });
  for (const auto& [vnfs, later] : serving) {
    if (later.first_request_ns == 0 || later_[vnfs] == later) continue;
    if (put_later(vnfs, later)) later_[vnfs] = later;
  }
}

// Errors: kNotFound (its arrival could not be written), kConflict (its departure is being written),
// kCorrupt, those of the store.
Status Agent::put_later(const std::string& vnfs, const Later& later) {
  const std::string key = kv::keys::history(vnfs, Epoch(later.epoch));
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(store_, kv::single_key(key), 0, kStoreDeadlineMs));
  if (read.kvs.empty()) return fail(ErrorCode::kNotFound, fmt::format("{}: is not there", key));
  records::TenureRecord tenure;
  if (!tenure.ParseFromString(read.kvs[0].value))
    return fail(ErrorCode::kCorrupt, fmt::format("{}: cannot be parsed", key));
  tenure.clear_later();
  const auto add = [&](std::string_view name, std::int64_t mono_ns) {
    if (mono_ns == 0) return;
    add_step(*tenure.mutable_later(), name, clock_.wall_ns() - (clock_.mono_ns() - mono_ns));
  };
  add(step::kFirstRequest, later.first_request_ns);
  add(step::kLastReclaim, later.last_reclaim_ns);
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, read.kvs[0].mod_revision));
  txn.success.push_back(put_tenure(vnfs, tenure));
  SYMNAS_ASSIGN(const auto done, kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
  if (!done.succeeded) return fail(ErrorCode::kConflict, fmt::format("{}: has changed", key));
  return {};
}

Result<nlohmann::json> Agent::vnfs_history(const std::string& name) {
  SYMNAS_TRY(wait_ready());
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  SYMNAS_TRY(find(view.vnfses, "vnfs", name));
  SYMNAS_ASSIGN(const auto tenures, read_history(store_, name, kStoreDeadlineMs));
  return nlohmann::json{{"history", history_document(tenures)}};
}

}  // namespace symnas::vnfsd::daemon
