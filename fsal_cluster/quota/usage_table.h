// UsageTable: what one mount knows of quotas: the mode, limits, graces, and the usage of every
// subject: bases and slots of all mounts, as the watch shows them, and what this mount's own
// transactions have changed that the watch has not shown yet.
//
// Thread class: thread-safe; its mutex is a leaf. Invariant: total() is the usage at newest(),
// changed by every own transaction whose outcome is known. Actions that wait are called by the
// session's watch with locks held: they must only hand the work on.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"
#include "fsal_cluster/quota/records.pb.h"
#include "fsal_cluster/quota/subject.h"
#include "fsal_cluster/quota/usage_record.h"

namespace symnas::fs {

class UsageTable final : public kv::Follower {
 public:
  explicit UsageTable(FsId fs) : fs_(fs) {}

  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();

  // OFF of epoch 0 until the first image has come; then always that of the newest image or event as
  // a whole: commits read it beside them. Never blocks, takes no lock.
  struct Mode {
    std::uint32_t epoch = 0;
    records::QuotaMode::State state = records::QuotaMode::OFF;
    bool off() const { return state == records::QuotaMode::OFF; }
    bool on() const { return state == records::QuotaMode::ON; }
    bool counts() const { return on() || state == records::QuotaMode::COUNTING; }
  };
  Mode mode() const { return unpack(mode_.load(std::memory_order_acquire)); }
  static std::uint64_t pack(Mode mode) { return std::uint64_t{mode.epoch} << 2 | mode.state; }
  static Mode unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 2),
            static_cast<records::QuotaMode::State>(packed & 3)};
  }
  // Whether some limit is to be held: ON, and there are limits. Takes no lock.
  bool limits_anything() const { return limiting_.load(std::memory_order_acquire); }

  // Whether what others record is seen: false while the watch is lost, when barriers pass although
  // totals are old.
  bool complete() const;
  // Runs `action` once, when the table is complete, at once when it is already.
  void when_complete(std::function<void()> action);
  // Runs every action that waits, now and from now on.
  void stop();

  Usage total(const Subject& subject) const;
  // The limit that is to be held, and whose it is: the subject's own, else that of each user or
  // group; of a tree only when everything in it is marked.
  struct Limit {
    records::QuotaLimit record;
    Subject whose;
  };
  std::optional<Limit> limit(const Subject& subject) const;
  // Of everybody who has a limit that is to be held, or uses something under that of each.
  std::map<Subject, Limit> held() const;
  std::map<std::uint32_t, records::QuotaTree> trees() const;
  // Those that are not READY, by root; nullopt: the table is not complete.
  std::optional<std::map<Ino, std::uint32_t>> trees_being_marked() const;
  records::QuotaGrace grace(const Subject& subject) const;
  // As they are stored.
  std::map<Subject, records::QuotaLimit> limits() const;
  // Of every subject, without what the watch has not shown.
  Usages totals() const;

  // A transaction of this mount has succeeded at `at`.
  void changed(Revision at, const Usages& delta);

  // Slots of the epoch of other mounts than these.
  struct ForeignSlot {
    std::string key;
    Usages usages;
    Revision revision;
  };
  std::vector<ForeignSlot> slots_of_others(const std::vector<MountId>& living) const;

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  // What was known is the best there is until the next image.
  void on_lost() override;

 private:
  std::optional<Limit> limit_now(const Subject& subject) const REQUIRES(mutex_);
  struct Part {
    QuotaKey key;
    Usages usages;
    Revision revision;
  };
  void put(const kv::KeyValue& kv) REQUIRES(mutex_);
  void erase(const std::string& key) REQUIRES(mutex_);
  // The end of an image or of events: publishes what they have brought.
  void settle(Revision newest) REQUIRES(mutex_);
  void count_anew() REQUIRES(mutex_);

  const FsId fs_;
  std::atomic<std::uint64_t> mode_{0};
  std::atomic<bool> limiting_{false};

  mutable Mutex mutex_;
  bool complete_ GUARDED_BY(mutex_) = false;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> waiting_ GUARDED_BY(mutex_);
  Mode known_ GUARDED_BY(mutex_);  // mode_, while an image or events are being taken
  Revision newest_ GUARDED_BY(mutex_);
  std::map<Subject, records::QuotaLimit> limits_ GUARDED_BY(mutex_);
  std::map<Subject, records::QuotaGrace> graces_ GUARDED_BY(mutex_);
  std::map<std::uint32_t, records::QuotaTree> trees_ GUARDED_BY(mutex_);
  std::map<std::string, Part> parts_ GUARDED_BY(mutex_);  // bases and slots of every epoch
  Usages totals_ GUARDED_BY(mutex_);                      // of the parts of the mode's epoch
  struct Own {
    Revision at;
    Usages delta;
  };
  std::deque<Own> unseen_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs
