// Peers: what this mount knows of the other mounts of its filesystem: who lives, who has ended, how
// far each has come, who is alone, who holds inodes without links. A complete image, kept by the
// session's watch (several_mounts.md).
//
// Thread class: thread-safe; its mutex is a leaf. Invariant: a look-up that answers says what the
// store held at newest(); while the image is lost it answers "unknown", and the caller waits, or
// takes everybody for alive.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"

namespace symnas::fs {

class Peers final : public kv::Follower {
 public:
  // `self` is left out of everything that is said about others.
  Peers(FsId fs, MountId self) : fs_(fs), self_(self) {}

  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();
  // Called after each change of the image, and when it is lost: must only wake somebody. Nullptr
  // ends it; returns when no call is under way.
  void on_change(std::function<void()> changed);

  // The revision up to which everything is known; nullopt: the image is lost.
  std::optional<Revision> newest() const;
  // The others that have not ended, ascending; nullopt: unknown.
  std::optional<std::vector<MountId>> living() const;
  // False also when it is unknown.
  bool has_ended(MountId id) const;
  // The others whose end record is there: what they left is still to be taken over. Ascending;
  // empty also when it is unknown.
  struct Ended {
    MountId id;
    bool clean = false;  // by its own close: nobody waits for anything that it left
    friend bool operator==(const Ended&, const Ended&) = default;
  };
  std::vector<Ended> ended() const;
  // No record of another mount at all, living or ended. False when it is unknown.
  bool no_others() const;

  // The key that says who is alone; nullopt: absent, or unknown.
  struct Solo {
    MountId holder;
    Revision revision;
  };
  std::optional<Solo> solo() const;
  // Somebody waits until nobody is alone any more. False when it is unknown.
  bool solo_wanted() const;

  // The newest revision R such that every I/O that another living mount began before it had applied
  // R has ended. 0 when it is unknown; never above newest(). A mount's own claim counts: it began
  // nothing before.
  Revision quiesced() const;
  // The same of their looks at orphans.
  Revision looked() const;
  // Blocks that the other mounts have allocated less those they have freed, as each announces it,
  // by mount; ended ones with what they announced last while their records stand.
  std::map<MountId, std::int64_t> allocated_blocks() const;
  // Whether another living mount finds no group to claim. False also when it is unknown.
  bool someone_needs_space() const;
  // Whether another mount that has not ended holds the inode; nullopt: unknown.
  std::optional<bool> held_by_others(Ino ino) const;
  // False also when it is unknown.
  bool holds(MountId id, Ino ino) const;

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  void on_lost() override;

 private:
  struct Mount {
    Revision claimed;  // 0: there is no mount record, only something that it left
    bool ended = false;
    bool clean = false;  // its end
    Revision quiesced;
    Revision looked;
    std::int64_t allocated_blocks = 0;
    bool needs_space = false;
  };
  // REQUIRES for all: mutex_ is held.
  void put(const kv::KeyValue& kv);
  void erase(const std::string& key);
  void put_heartbeat(MountId id, const std::string& value);
  bool lives(MountId id) const;
  void forget_if_empty(MountId id);
  template <class Progress>
  Revision slowest(Progress progress) const;
  void tell();

  const FsId fs_;
  const MountId self_;

  mutable std::mutex mutex_;
  std::optional<Revision> newest_;  // guarded by mutex_, as all below
  std::map<MountId, Mount> mounts_;
  std::optional<Solo> solo_;
  bool solo_wanted_ = false;
  std::set<std::pair<Ino, MountId>> holds_;

  std::mutex tell_mutex_;  // held over changed_, which only wakes somebody
  std::function<void()> changed_;
};

}  // namespace symnas::fs
