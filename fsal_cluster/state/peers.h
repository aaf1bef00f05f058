// Peers: what this mount knows of the other mounts of its filesystem: which live, which have ended,
// how far each has come, which one is alone, which hold inodes without links. A complete image,
// kept by the session's watch (several_mounts.md).
//
// Thread class: thread-safe; its mutex is a leaf. Invariant: an answer says what the store held at
// newest(). While the image is lost the answer is "unknown"; then the caller waits, or counts every
// mount as alive.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"

namespace symnas::fs {

class Peers final : public kv::Follower {
 public:
  // `self` is not among the others in any answer.
  Peers(FsId fs, MountId self) : fs_(fs), self_(self) {}

  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();
  // `changed` is called after each change of the image, and when the image is lost. It must only
  // wake a thread. Nullptr removes it; on_change() returns when no call is under way.
  void on_change(std::function<void()> changed);

  // The revision up to which everything is known; nullopt: the image is lost.
  std::optional<Revision> newest() const;
  // The others that have not ended, ascending; nullopt: unknown.
  std::optional<std::vector<MountId>> living() const;
  // Whether the mount has an end record. False also when that is unknown.
  bool has_ended(MountId id) const;
  // The other mounts that have an end record and are still to be recovered. Ascending; empty also
  // when it is unknown.
  struct Ended {
    MountId id;
    bool clean = false;  // it closed by itself: nobody waits for anything that it left
    friend bool operator==(const Ended&, const Ended&) = default;
  };
  std::vector<Ended> ended() const;
  // True when there is no record of another mount at all, living or ended. False when it is
  // unknown.
  bool no_others() const;

  // The key that says who is alone; nullopt: absent, or unknown.
  struct Solo {
    MountId holder;
    Revision revision;
  };
  std::optional<Solo> solo() const;
  // True when a mount waits for the sole one to make room. False when it is unknown.
  bool solo_wanted() const;

  // The newest revision R such that every I/O that another living mount began before it had applied
  // R has ended. 0 when it is unknown; never above newest(). Each mount counts at least with the
  // revision of its claim, because it began nothing before.
  Revision quiesced() const;
  // The newest revision up to which every other living mount has looked at orphans; 0 as for
  // quiesced().
  Revision looked() const;
  // By mount: blocks that it has allocated less blocks that it has freed, as it announces them.
  // Ended mounts have their last announcement while their records stand.
  std::map<MountId, std::int64_t> allocated_blocks() const;
  // Whether another living mount finds no group to claim. False also when it is unknown.
  bool someone_needs_space() const;
  // Whether another mount that has not ended holds the inode; nullopt: unknown.
  std::optional<bool> held_by_others(Ino ino) const;
  // For tests: whether that mount has put a hold of the inode. False also when it is unknown.
  bool holds(MountId id, Ino ino) const;

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  void on_lost() override;

 private:
  struct Mount {
    Revision claimed;  // 0: there is no mount record, only something that the mount left
    bool ended = false;
    bool clean = false;  // its end record says: closed by itself
    Revision quiesced;
    Revision looked;
    std::int64_t allocated_blocks = 0;
    bool needs_space = false;
  };
  void put(const kv::KeyValue& kv) REQUIRES(mutex_);
  void erase(const std::string& key) REQUIRES(mutex_);
  void put_heartbeat(MountId id, const std::string& value) REQUIRES(mutex_);
  bool lives(MountId id) const REQUIRES(mutex_);
  void forget_if_empty(MountId id) REQUIRES(mutex_);
  template <class Progress>
  Revision slowest(Progress progress) const;
  void tell();

  const FsId fs_;
  const MountId self_;

  mutable Mutex mutex_;
  std::optional<Revision> newest_ GUARDED_BY(mutex_);
  std::map<MountId, Mount> mounts_ GUARDED_BY(mutex_);
  std::optional<Solo> solo_ GUARDED_BY(mutex_);
  bool solo_wanted_ GUARDED_BY(mutex_) = false;
  std::set<std::pair<Ino, MountId>> holds_ GUARDED_BY(mutex_);

  Mutex tell_mutex_;  // held while changed_ is called, which only wakes a thread
  std::function<void()> changed_ GUARDED_BY(tell_mutex_);
};

}  // namespace symnas::fs
