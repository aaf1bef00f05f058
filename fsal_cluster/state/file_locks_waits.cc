// FileLocks: the part about who waits.
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/kv/lock_keys.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/lock_waits.pb.h"

namespace symnas::fs {

Status FileLocks::load_waits() {
  SYMNAS_ASSIGN(const kv::OpResult found,
                session_.range(kv::prefix_range(kv::keys::lock_waits(fs_)), 0));
  for (const kv::KeyValue& kv : found.kvs) {
    SYMNAS_ASSIGN(std::optional<LockWait> wait, parse_wait(kv, vnfs_));
    if (!wait) continue;
    const MutexLock lock(mutex_);
    waits_.load(kv.key, std::move(*wait), kv.create_revision);
  }
  return {};
}

void FileLocks::begin_wait(const LockWait& wait) {
  const std::string key = lock_wait_key(fs_, vnfs_, wait);
  const LockTurn turn(turns_, LockTurns::of(wait.ino));
  {
    const MutexLock lock(mutex_);
    if (!waits_.begin(key, wait)) return;
  }
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kGrows;
  mutation.writes = {kv::put(key, to_wait_record(vnfs_, wait))};
  const auto put = session_.commit_blocking(std::move(mutation));
  if (!put) log::info("a lock that is waited for is not recorded: {}", put.error().message);
  const MutexLock lock(mutex_);
  if (put && put->succeeded)
    waits_.recorded(key, put->revision);
  else
    waits_.not_recorded(key);
  recording_.wake();
}

void FileLocks::end_wait(const LockWait& wait) {
  {
    const MutexLock lock(mutex_);
    waits_.end(lock_wait_key(fs_, vnfs_, wait));
  }
  recording_.wake();
}

Status FileLocks::erase_ended_waits() {
  for (;;) {
    std::vector<std::pair<std::string, Ino>> ended;
    {
      const MutexLock lock(mutex_);
      ended = waits_.ended(kLocksAtOnce);
    }
    if (ended.empty()) return {};
    LockTurns::Lanes lanes;
    for (const auto& [key, ino] : ended) lanes |= LockTurns::of(ino);
    const LockTurn turn(turns_, lanes);
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    {
      // Its owner may wait again since.
      const MutexLock lock(mutex_);
      std::erase_if(
          ended, [this](const auto& one) REQUIRES(mutex_) { return !waits_.is_ended(one.first); });
    }
    for (const auto& [key, ino] : ended) mutation.writes.push_back(kv::erase(key));
    if (mutation.writes.empty()) continue;
    SYMNAS_TRY(session_.commit_blocking(std::move(mutation)));
    const MutexLock lock(mutex_);
    for (const auto& [key, ino] : ended) waits_.erased(key);
  }
}

std::optional<LockConflict> FileLocks::older_wait(const Key& key, const LockRange& range) const {
  if (foreign_waits_ == nullptr) return std::nullopt;
  std::optional<Revision> since;
  {
    const MutexLock lock(mutex_);
    // Whoever holds all of it already keeps the others waiting anyway.
    if (covers_at_least(held_.held(key), {range.start, range.end, LockMode::kShared}))
      return std::nullopt;
    LockWait wait;
    wait.ino = key.first;
    wait.owner = key.second;
    wait.range = range;
    since = waits_.since(lock_wait_key(fs_, vnfs_, wait));
  }
  return foreign_waits_->older(key.first, range, since);
}

void FileLocks::call_next() {
  std::set<Ino> freed;
  {
    const MutexLock lock(mutex_);
    freed = std::exchange(freed_, {});
  }
  for (const Ino ino : freed) {
    std::optional<Revision> own;
    {
      const MutexLock lock(mutex_);
      own = waits_.oldest_on(ino);
    }
    const auto next = foreign_waits_->next(ino, own);
    records::LockWait record;
    if (!next || !record.ParseFromString(next->record)) continue;
    record.set_called(record.called() + 1);
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kChanges;
    mutation.compares = {kv::mod_revision_is(next->key, next->revision)};
    mutation.writes = {kv::put(next->key, record.SerializeAsString())};
    // If it fails the waiter looks by itself, a second later.
    static_cast<void>(session_.commit_blocking(std::move(mutation)));
  }
}

void FileLocks::note_freed(Ino ino) {
  if (foreign_waits_ == nullptr || !foreign_waits_->any_on(ino)) return;
  freed_.insert(ino);
  recording_.wake();
}

void FileLocks::on_called(std::function<void()> called) {
  if (foreign_waits_ != nullptr) foreign_waits_->on_called(std::move(called));
}

std::vector<LockWait> FileLocks::left_waits() const {
  const MutexLock lock(mutex_);
  return waits_.left();
}

bool FileLocks::is_left(const LockWait& wait) const {
  const MutexLock lock(mutex_);
  return waits_.is_left(lock_wait_key(fs_, vnfs_, wait));
}

void FileLocks::end_left(const LockWait& wait) {
  {
    const MutexLock lock(mutex_);
    const std::string key = lock_wait_key(fs_, vnfs_, wait);
    if (!waits_.is_left(key)) return;
    waits_.end(key);
  }
  recording_.wake();
}

void FileLocks::note_granted(const Key& key, const LockRange& range) {
  if (!waits_.any_left()) return;
  LockWait wait;
  wait.ino = key.first;
  wait.owner = key.second;
  wait.range = range;
  const std::string record = lock_wait_key(fs_, vnfs_, wait);
  if (!waits_.is_left(record)) return;
  waits_.end(record);
  recording_.wake();
}

void FileLocks::forget_left_waits() {
  for (const LockWait& wait : left_waits()) end_left(wait);
}

std::vector<LockRange> FileLocks::held_by(Ino ino, const LockOwner& owner,
                                          std::int32_t nsm_state) const {
  const MutexLock lock(mutex_);
  return held_.held_in({ino, owner}, {nsm_state, held_.kept({ino, owner}).life.verifier});
}

}  // namespace symnas::fs
