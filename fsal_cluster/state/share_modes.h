// ShareModes: share reservations (RFC 8881 9.7) of the opens of all mounts of one filesystem.
//
// An open that denies nothing writes nothing, as long as no open of its file denies anything. An
// open that wants to deny something first asks every other mount to record what it has open of that
// file, and from then on each change of it. Every open of the file then reads what is recorded and
// adds its own modes in one transaction. What a mount has recorded stays when the mount has ended,
// until its VNFS is served again and all clients have had time to reclaim their opens
// (docs/architecture/shares.md).
//
// Thread class: thread-safe. Owns one thread between start() and stop().
// Invariant: of two opens that conflict, at most one is granted, whatever mounts they come through.
// Opens through an ended mount count, too, until kUnclaimedLeases have passed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/state/peers.h"
#include "fsal_cluster/state/share_table.h"
#include "fsal_cluster/types/share_mode.h"

namespace symnas::fs {

// Outcome of a change of an open.
enum class ShareAnswer {
  kGranted,
  kDenied,  // by another open
  kLater,   // not known: a mount does not answer, or clients may still reclaim
};

// How long an open that denies something waits for other mounts before its client is told to try
// again. ganesha's state lock of the file is held meanwhile. Longer than healthy mounts take: at
// the next try they have answered.
inline constexpr std::int64_t kShareAskMs = 200;
inline constexpr std::int64_t kShareAskPollMs = 2;
// How soon the thread tries again when another thread has an inode's turn.
inline constexpr std::int64_t kShareTurnMs = 10;
// How long records stay that no mount needs any more: when a file is opened so again and again, not
// every open makes every mount write.
inline constexpr std::int64_t kShareCleanMs = 1'000;

class ShareModes {
 public:
  struct Options {
    FsId fs;
    MountId mount;
    std::string vnfs;
    std::int64_t lease_s;  // of NFSv4
  };
  // All outlive it.
  ShareModes(kv::Session& session, const env::Clock& clock, ShareTable& table, const Peers& peers,
             const Gate& gate, Options options);
  ~ShareModes();
  ShareModes(const ShareModes&) = delete;
  ShareModes& operator=(const ShareModes&) = delete;
  void stop();  // idempotent

  // An open of the inode changes from `before` to `after`; {}: it is not open. A change that only
  // gives something up is always granted; if it cannot be recorded now, it is recorded later.
  // `is_reclaim`: the file was open like this through the mount that served this VNFS before.
  // Blocks when something is recorded of the file, or has to be. Errors: those of Session.
  Result<ShareAnswer> change(Ino ino, ShareMode before, ShareMode after, bool is_reclaim);
  // The open with which an inode is made. No other open of the inode is judged while it exists.
  class FirstOpen {
   public:
    // What the transaction that makes the inode puts.
    const std::vector<kv::Op>& writes() const { return writes_; }
    // REQUIRES: that transaction was committed.
    void count();

   private:
    friend class ShareModes;
    FirstOpen(ShareTable& table, Ino ino, ShareMode mode);
    ShareTable& table_;
    ShareTable::Turn turn_;
    Ino ino_;
    ShareMode mode_;
    std::optional<RecordedShare> recorded_;
    std::vector<kv::Op> writes_;
  };
  // Nobody has to be asked: no mount can have an open of an inode that is not there yet, and none
  // counts one before it has heard of the inode's making (has_heard_of).
  FirstOpen first_open(Ino ino, ShareMode mode);
  // Whether this mount knows everything that was recorded up to the revision. Waits for events that
  // are on their way.
  bool has_heard_of(Revision revision) const;
  // Whether an open through another mount denies any of `bits`, as far as this mount knows. Never
  // waits.
  bool is_denied(Ino ino, std::uint8_t bits) const { return table_.is_denied(ino, bits); }
  // For a clean close: whether clients may reclaim opens that came through this mount, or through a
  // mount of the VNFS before it.
  bool may_have_opens() const;

 private:
  struct Looked {
    ShareTable::Others others;
    kv::Compare unchanged;  // holds until something is recorded of the inode
  };
  Result<ShareAnswer> change_recorded(Ino ino, ShareMode before, ShareMode after, bool is_reclaim);
  // Errors: Session::range.
  Result<Looked> look(Ino ino);
  ShareAnswer judge(const Looked& looked, ShareMode after, bool is_reclaim) const;
  // Whether an open that denies something can be granted now, as far as this mount knows: no client
  // of an ended mount may still reclaim an open that no record shows. Waits for events that are on
  // their way.
  bool can_deny() const;
  // Waits until every living mount has recorded all its opens of the inode.
  bool all_have_recorded(Ino ino, Revision asked);
  // REQUIRES for all: the inode's turn. Errors: Session::commit; kConflict: a compare did not hold.
  Result<Revision> record(Ino ino, const RecordedShare& share, kv::Growth growth,
                          std::vector<kv::Compare> unchanged = {});
  Status forget(Ino ino, kv::Compare unchanged);
  RecordedShare share(ShareMode mode, bool asks) const;

  // The other mounts that live at revision `at_least` or later, once everything is known that they
  // had recorded by then. nullopt: not known yet.
  std::optional<std::vector<MountId>> living(Revision at_least) const;
  // Whether no mount except these may have opens, and no client may reclaim any.
  bool has_all_at_hand(const std::vector<MountId>& living) const;
  // Whether all clients of the VNFS have had time to reclaim what they had open before this mount.
  bool is_settled() const;
  void run();
  // False: another thread has the turn of an inode.
  bool look_around();
  // Answers mounts that ask, and records late what opens gave up. False: another thread has the
  // turn. Errors: as record().
  Result<bool> attend(Ino ino);
  // Removes records that no mount needs any more. Errors: as record().
  Status clean(Ino ino);
  // Erases what this VNFS's former mounts have left. REQUIRES: is_settled(). Errors: Session.
  Status drop_former();
  // Erases what mounts of other VNFSs have left that no mount has served for kUnclaimedLeases.
  // Errors: Session.
  Status drop_unserved();
  Status erase_of(const std::string& vnfs, std::optional<kv::Compare> guard);

  kv::Session& session_;
  const env::Clock& clock_;
  ShareTable& table_;
  const Peers& peers_;
  const Gate& gate_;
  const Options options_;
  const std::int64_t loaded_ns_;

  // False while clients may still reclaim opens from former mounts of this VNFS.
  std::atomic<bool> former_dropped_;
  struct Unserved {
    std::int64_t since_ns = 0;
    std::optional<Revision> claimed;  // the youngest claim of any mount since then
  };
  std::map<std::string, Unserved> unserved_;  // by VNFS; confined to the thread
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace symnas::fs
