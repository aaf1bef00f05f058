#include "fsal_cluster/state/lock_orders.h"

#include <chrono>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

namespace {

LockRange wanted_of(const records::LockOrder& record) {
  if (!record.has_end()) return kWholeFile;
  return {record.start(), record.end(), LockMode::kExclusive};
}

}  // namespace

kv::SessionOptions::Followed LockOrders::followed() {
  return {{kv::prefix_range(kv::keys::lock_orders(fs_))}, this};
}

std::vector<LockOrder> LockOrders::wait(std::int64_t wait_ms) {
  const MutexLock lock(mutex_);
  changed_.wait_for(mutex_, std::chrono::milliseconds(wait_ms),
                    [this]() REQUIRES(mutex_) { return stop_ || !orders_.empty(); });
  std::vector<LockOrder> out;
  if (stop_) return out;
  for (const auto& [key, order] : orders_) out.push_back(order);
  return out;
}

void LockOrders::done(const LockOrder& order) {
  const MutexLock lock(mutex_);
  const auto known = orders_.find(order.key);
  if (known != orders_.end() && known->second.revision == order.revision) orders_.erase(known);
}

void LockOrders::stop() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

bool LockOrders::stopping() const {
  const MutexLock lock(mutex_);
  return stop_;
}

bool LockOrders::is_valid(const LockOrder& order) const {
  if (order.kind != records::LockOrder::CLEAR) return true;
  const MutexLock lock(mutex_);
  const auto known = orders_.find(order.key);
  return known != orders_.end() && known->second.revision == order.revision && order.given_ns &&
         clock_.mono_ns() - *order.given_ns < kLockOrderValidNs;
}

void LockOrders::put(const kv::KeyValue& kv, std::optional<std::int64_t> given_ns) {
  orders_.erase(kv.key);
  const auto lock_key = ordered_lock_key(fs_, kv.key);
  const auto holder = lock_key ? parse_lock_key(fs_, *lock_key) : std::nullopt;
  records::LockOrder record;
  if (!holder || holder->vnfs != vnfs_ || !record.ParseFromString(kv.value)) return;
  orders_[kv.key] = {kv.key,        kv.mod_revision,  holder->ino,
                     holder->owner, record.kind(),    Revision{record.lock_revision()},
                     given_ns,      wanted_of(record)};
}

void LockOrders::on_image(const std::vector<kv::KeyValue>& image, Revision) {
  {
    const MutexLock lock(mutex_);
    orders_.clear();
    for (const kv::KeyValue& kv : image) put(kv, std::nullopt);
  }
  changed_.notify_all();
}

void LockOrders::on_events(const std::vector<kv::WatchEvent>& events, Revision) {
  if (events.empty()) return;
  {
    const MutexLock lock(mutex_);
    for (const kv::WatchEvent& event : events) {
      if (event.deleted) {
        orders_.erase(event.kv.key);
      } else {
        put(event.kv, clock_.mono_ns());
      }
    }
  }
  changed_.notify_all();
}

void LockOrders::on_lost() {
  const MutexLock lock(mutex_);
  orders_.clear();
}

}  // namespace symnas::fs
