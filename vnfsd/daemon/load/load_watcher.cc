#include "vnfsd/daemon/load/load_watcher.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "common/kv/load_keys.h"
#include "vnfsd/daemon/load/limits.h"
#include "vnfsd/instance/load.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/records/load.h"

namespace symnas::vnfsd::daemon {

LoadLinks load_links() {
  return {instance::load_of,
          [](std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }};
}

LoadWatcher::LoadWatcher(const ThisHead& head, ClusterReader& reader, const Instances& instances,
                         LoadLinks links, std::stop_token end)
    : head_(head),
      reader_(reader),
      instances_(instances),
      links_(std::move(links)),
      end_(end),
      loop_(std::move(end)) {}

LoadWatcher::~LoadWatcher() { join(); }

void LoadWatcher::start() {
  loop_.start(kLoadLookMs, [this] { look(); });
}

void LoadWatcher::join() {
  loop_.join();
  watch_.reset();
}

void LoadWatcher::on_watch_events(std::vector<kv::WatchEvent> events, Revision) {
  if (std::ranges::any_of(events, [](const kv::WatchEvent& event) { return !event.deleted; }))
    want();
}

void LoadWatcher::on_watch_ended(Error) { watch_over_.store(true); }

void LoadWatcher::want() {
  const bool was_wanted = is_wanted();
  wanted_until_ms_.store(now_ms() + kLoadWantedMs);
  if (!was_wanted) loop_.wake();
}

void LoadWatcher::look() {
  if (!reader_.is_ready()) return;
  if (watch_over_.exchange(false)) {
    watch_.reset();
    watch_ = head_.store.watch(kv::single_key(kv::keys::kLoadWanted), Revision{}, this);
  }
  if (!is_wanted()) return tell_no_more();
  tells_ = true;
  records::LoadRecord record = read_instances();
  bound_load(record, kLoadTableBytes);
  {
    const MutexLock lock(mutex_);
    own_ = record;
    own_ms_ = now_ms();
  }
  tell(record);
}

records::LoadRecord LoadWatcher::read_instances() {
  records::LoadRecord record;
  std::set<std::string> read;
  for (const auto& [vnfs, snapshot] : instances_.snapshots()) {
    if (snapshot.standing() != InstanceStanding::kServing) continue;
    auto report = links_.read(instance::paths_for(head_.config, vnfs).control);
    if (!report) {
      records::LoadVnfs& failed = *record.add_vnfses();
      failed.set_vnfs(vnfs);
      failed.set_epoch(snapshot.epoch);
      failed.set_error(report.error().message);
      continue;
    }
    read.insert(vnfs);
    history_.add(vnfs, Epoch(snapshot.epoch), now_ms(), std::move(*report));
    if (auto load = history_.last(vnfs)) *record.add_vnfses() = std::move(*load);
  }
  history_.keep_if([&](const std::string& vnfs) { return read.contains(vnfs); });
  return record;
}

void LoadWatcher::tell(const records::LoadRecord& record) {
  // Nothing is compared: nothing is decided by it.
  kv::Txn txn;
  txn.success.push_back(
      kv::put(kv::keys::kLoadTables + head_.config.head_name, record.SerializeAsString()));
  const auto done = kv::txn_blocking(head_.store, std::move(txn), kLoadStoreMs);
  if (!done) log::debug("load: {}", done.error().message);
}

// Everything goes: of heads that have crashed, too. What others go on to tell comes again.
void LoadWatcher::tell_no_more() {
  if (!std::exchange(tells_, false)) return;
  history_.clear();
  kv::Txn txn;
  txn.success.push_back(kv::erase_range(kv::prefix_range(kv::keys::kLoad)));
  const auto done = kv::txn_blocking(head_.store, std::move(txn), kLoadStoreMs);
  if (!done) tells_ = true;  // again in the next turn
}

Status LoadWatcher::ask() {
  {
    const MutexLock lock(mutex_);
    if (now_ms() - asked_ms_ < kLoadAskMs && !looks_.empty()) return {};
    if (now_ms() - asked_ms_ >= kLoadWantedMs) looks_.clear();
  }
  kv::Txn txn;
  txn.success.push_back(kv::put(kv::keys::kLoadWanted, head_.config.head_name));
  const std::int64_t asked_ms = now_ms();
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(head_.store, std::move(txn), kLoadStoreMs));
  const MutexLock lock(mutex_);
  asked_ms_ = asked_ms;
  if (looks_.empty()) looks_.emplace_back(asked_ms, done.revision);
  return {};
}

Status LoadWatcher::collect(const ClusterView& view, api::ClusterLoad& out) {
  kv::Txn txn;
  txn.success.push_back(kv::get_range(kv::prefix_range(kv::keys::kLoadTables)));
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(head_.store, std::move(txn), kLoadStoreMs));
  Revision old;
  {
    const MutexLock lock(mutex_);
    while (looks_.size() > 1 && looks_[1].first <= now_ms() - kLoadFreshMs) looks_.pop_front();
    if (!looks_.empty()) old = looks_.front().second;
    if (looks_.empty() || looks_.back().first <= now_ms() - kLoadPollMs)
      looks_.emplace_back(now_ms(), done.revision);
  }
  for (const kv::KeyValue& kv : done.results.at(0).kvs) {
    const std::string head = kv.key.substr(kv::keys::kLoadTables.size());
    records::LoadRecord record;
    if (kv.mod_revision <= old || !view.heads.contains(head) || !record.ParseFromString(kv.value))
      continue;
    out.told[head] = std::move(record);
  }
  return {};
}

api::ClusterLoad LoadWatcher::told(const ClusterView& view) {
  std::set<std::string> owners;
  for (const auto& [vnfs, owner] : view.owners) owners.insert(owner.record.head());
  const std::string& self = head_.config.head_name;
  const std::int64_t deadline_ms = now_ms() + kLoadAnswerMs;
  want();
  for (;;) {
    api::ClusterLoad out;
    Status seen = ask();
    if (seen) seen = collect(view, out);
    {
      const MutexLock lock(mutex_);
      if (own_ms_ != 0 && now_ms() - own_ms_ < kLoadFreshMs) out.told[self] = own_;
    }
    // Without etcd this head's own load is all that there is to wait for.
    bool complete = seen || (out.told.contains(self) && out.told[self].vnfses_size() != 0);
    for (const std::string& head : owners) {
      if (out.told.contains(head)) continue;
      complete = complete && !seen;
      out.silent[head] = seen ? "it has told nothing for some seconds (symnas status)"
                              : "etcd cannot be read: " + seen.error().message;
    }
    // A head that has just begun to look has not two reports of its instances yet.
    for (const auto& [vnfs, owner] : view.owners) {
      if (!seen) break;
      const auto record = out.told.find(owner.record.head());
      if (record == out.told.end()) continue;
      complete = complete && std::ranges::any_of(record->second.vnfses(), [&](const auto& one) {
                   return one.vnfs() == vnfs && one.epoch() == owner.record.epoch();
                 });
    }
    if (complete || now_ms() >= deadline_ms || end_.stop_requested()) return out;
    links_.pause(kLoadPollMs);
  }
}

}  // namespace symnas::vnfsd::daemon
