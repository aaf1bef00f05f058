#include "fsal_cluster/state/foreign_waits.h"

#include "common/kv/lock_keys.h"
#include "fsal_cluster/state/lock_waits.pb.h"

namespace symnas::fs {
namespace {

bool conflict(const LockRange& one, const LockRange& other) {
  return one.start <= other.end && other.start <= one.end &&
         (one.mode == LockMode::kExclusive || other.mode == LockMode::kExclusive);
}

}  // namespace

kv::SessionOptions::Followed ForeignWaits::followed() {
  return {{kv::prefix_range(kv::keys::lock_waits(fs_))}, this};
}

void ForeignWaits::on_called(std::function<void()> called) {
  const MutexLock lock(mutex_);
  called_ = std::move(called);
}

std::optional<LockConflict> ForeignWaits::older(Ino ino, const LockRange& range,
                                                std::optional<Revision> since) {
  const std::string prefix = kv::keys::lock_waits_of(fs_, ino);
  const std::int64_t now_ns = clock_.mono_ns();
  const MutexLock lock(mutex_);
  for (auto at = waits_.lower_bound(prefix); at != waits_.end() && at->first.starts_with(prefix);
       ++at) {
    const Wait& wait = at->second;
    if (!conflict(wait.range, range) || (since && *since <= wait.created)) continue;
    const auto since_ns = yielded_ns_.try_emplace({ino, wait.vnfs}, now_ns).first->second;
    if (now_ns - since_ns < kYieldNs) return LockConflict{wait.owner, wait.range};
  }
  return std::nullopt;
}

bool ForeignWaits::any_on(Ino ino) const {
  const std::string prefix = kv::keys::lock_waits_of(fs_, ino);
  const MutexLock lock(mutex_);
  const auto first = waits_.lower_bound(prefix);
  return first != waits_.end() && first->first.starts_with(prefix);
}

std::optional<ForeignWaits::Next> ForeignWaits::next(Ino ino, std::optional<Revision> own) {
  const std::string prefix = kv::keys::lock_waits_of(fs_, ino);
  const std::int64_t now_ns = clock_.mono_ns();
  const MutexLock lock(mutex_);
  auto oldest = waits_.end();
  for (auto at = waits_.lower_bound(prefix); at != waits_.end() && at->first.starts_with(prefix);
       ++at) {
    if (oldest == waits_.end() || at->second.created < oldest->second.created) oldest = at;
  }
  if (oldest == waits_.end()) return std::nullopt;
  Wait& wait = oldest->second;
  if (own && *own < wait.created) return std::nullopt;
  if (wait.called_ns && now_ns - *wait.called_ns < kYieldNs) return std::nullopt;
  wait.called_ns = now_ns;
  return Next{oldest->first, wait.record, wait.changed};
}

bool ForeignWaits::put(const kv::KeyValue& kv) {
  records::LockWait record;
  if (!record.ParseFromString(kv.value)) {
    erase(kv.key);
    return false;
  }
  if (record.vnfs() == vnfs_) return record.called() > 0;
  Wait wait;
  wait.ino = Ino{record.ino()};
  wait.vnfs = record.vnfs();
  wait.called = record.called();
  const auto known = waits_.find(kv.key);
  const bool is_known = known != waits_.end() && known->second.created == kv.create_revision;
  if (is_known) wait.called_ns = known->second.called_ns;
  // A call is written by others.
  if (!is_known || wait.called <= known->second.called) yielded_ns_.erase({wait.ino, wait.vnfs});
  wait.owner = {
      record.protocol() == records::LockWait::NLM ? LockProtocol::kNlm : LockProtocol::kNfs4,
      record.client(), record.owner()};
  wait.range = {record.start(), record.end(),
                record.exclusive() ? LockMode::kExclusive : LockMode::kShared};
  wait.record = kv.value;
  wait.created = kv.create_revision;
  wait.changed = kv.mod_revision;
  waits_[kv.key] = std::move(wait);
  return false;
}

void ForeignWaits::erase(const std::string& key) {
  const auto known = waits_.find(key);
  if (known == waits_.end()) return;
  yielded_ns_.erase({known->second.ino, known->second.vnfs});
  waits_.erase(known);
}

void ForeignWaits::on_image(const std::vector<kv::KeyValue>& image, Revision) {
  std::function<void()> called;
  {
    const MutexLock lock(mutex_);
    waits_.clear();
    yielded_ns_.clear();
    for (const kv::KeyValue& kv : image) put(kv);
    called = called_;
  }
  if (called) called();  // nobody knows what the watch has not shown
}

void ForeignWaits::on_events(const std::vector<kv::WatchEvent>& events, Revision) {
  std::function<void()> called;
  {
    const MutexLock lock(mutex_);
    bool any = false;
    for (const kv::WatchEvent& event : events) {
      if (event.deleted) {
        erase(event.kv.key);
      } else {
        any = put(event.kv) || any;
      }
    }
    if (any) called = called_;
  }
  if (called) called();
}

void ForeignWaits::on_lost() {
  const MutexLock lock(mutex_);
  waits_.clear();
  yielded_ns_.clear();
}

}  // namespace symnas::fs
