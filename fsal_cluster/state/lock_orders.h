// LockOrders: the orders in the store about the lock records of one VNFS in one filesystem (`wX` of
// docs/formats/keys.md): a complete image, kept by the session's watch.
//
// An order to clear a lock counts only while its administrator may still wait for it. The mount's
// own clock tells the age of an order that it saw come. Nobody knows the age of one that was there
// before.
//
// Thread class: thread-safe; its mutex is a leaf.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

struct LockOrder {
  std::string key;
  Revision revision;  // of the order
  Ino ino;
  LockOwner owner;
  records::LockOrder::Kind kind = records::LockOrder::CLEAR;
  Revision lock_revision;  // revision of the lock record that is meant
  // When this mount saw the order come (monotonic clock); nullopt: it was there before.
  std::optional<std::int64_t> given_ns;
  LockRange wanted = kWholeFile;  // of an order because of a conflict
};

class LockOrders final : public kv::Follower {
 public:
  // `clock` outlives it.
  LockOrders(const env::Clock& clock, FsId fs, std::string vnfs)
      : clock_(clock), fs_(fs), vnfs_(std::move(vnfs)) {}
  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();

  // Waits for an order, at most wait_ms; stop() ends the wait. Empty: there is none, or none is
  // known.
  std::vector<LockOrder> wait(std::int64_t wait_ms);
  // The order was carried out: wait() does not return it again, though the watch may still show it.
  void done(const LockOrder& order);
  // Whether the order may still be carried out, as far as the watch shows.
  bool is_valid(const LockOrder& order) const;
  // Idempotent.
  void stop();
  bool stopping() const;

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  void on_lost() override;

 private:
  void put(const kv::KeyValue& kv, std::optional<std::int64_t> given_ns) REQUIRES(mutex_);

  const env::Clock& clock_;
  const FsId fs_;
  const std::string vnfs_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::string, LockOrder> orders_ GUARDED_BY(mutex_);  // by key
  bool stop_ GUARDED_BY(mutex_) = false;
};

}  // namespace symnas::fs
