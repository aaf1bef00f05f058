// ShareModes: share reservations (RFC 8881 9.7) of the opens of all mounts of one filesystem.
//
// An open that denies nothing writes nothing, while nobody denies anything of its file. Whoever
// wants to deny something asks first: every other mount records what it has open of that file and
// from then on each change of it; whoever opens the file looks at what is recorded and adds his own
// in one transaction. What a mount has recorded stands when it has ended, until its VNFS is served
// again and all clients have had time to reclaim their opens (docs/architecture/shares.md).
//
// Thread class: thread-safe. Owns one thread between start() and stop().
// Invariant: of two opens that conflict, at most one is granted, whatever mounts they come through;
// of those that were open through an ended mount, too, until kUnclaimedLeases have passed.
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
#include "fsal_cluster/state/share_mode.h"
#include "fsal_cluster/state/share_table.h"

namespace symnas::fs {

// What a change of an open came to.
enum class ShareAnswer {
  kGranted,
  kDenied,  // by another open
  kLater,   // not known yet: of a mount that does not answer, or that clients may still reclaim
};

// How long an open that denies something waits for the other mounts, with ganesha's state lock of
// the file held, before its client is told to try again: longer than healthy ones take. They have
// answered by then.
inline constexpr std::int64_t kShareAskMs = 200;
inline constexpr std::int64_t kShareAskPollMs = 2;
// How soon the thread tries again what somebody else is at.
inline constexpr std::int64_t kShareTurnMs = 10;
// How long what nobody needs any more stays recorded: files that are opened so again and again do
// not make every mount write each time.
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

  // An open of the inode changes from `before` to `after`; {}: it is not open. One that only gives
  // something up is always granted; what could not be recorded of it is so later. `is_reclaim`: it
  // was open so through the mount that served this VNFS before.
  // Blocks where anything is recorded of the file, or is to be. Errors: those of Session.
  Result<ShareAnswer> change(Ino ino, ShareMode before, ShareMode after, bool is_reclaim);
  // Whether an open that denies something can be granted now, as far as this mount has heard:
  // clients of no ended mount may still reclaim what nothing shows. Waits for what is on its way.
  bool can_deny() const;
  // Whether an open through another mount denies any of `bits`. As far as this mount has heard;
  // never waits.
  bool is_denied(Ino ino, std::uint8_t bits) const { return table_.is_denied(ino, bits); }
  // At a clean close: whether clients may reclaim opens that came through this mount, or through
  // one before it.
  bool may_have_opens() const;

 private:
  struct Looked {
    ShareTable::Others others;
    kv::Compare unchanged;  // until something is recorded of the inode
  };
  Result<ShareAnswer> change_recorded(Ino ino, ShareMode before, ShareMode after, bool is_reclaim);
  // Errors: Session::range.
  Result<Looked> look(Ino ino);
  ShareAnswer judge(const Looked& looked, ShareMode after, bool is_reclaim) const;
  // Waits until every living mount has recorded all its opens of the inode.
  bool all_have_recorded(Ino ino, Revision asked);
  // REQUIRES for all: the inode's turn. Errors: Session::commit; kConflict: the compare.
  Result<Revision> record(Ino ino, const RecordedShare& share, kv::Growth growth,
                          std::vector<kv::Compare> unchanged = {});
  Status forget(Ino ino, kv::Compare unchanged);
  RecordedShare share(ShareMode mode, bool asks) const;

  // The other living mounts, at that revision or later, once everything is known that the mounts of
  // then have recorded. nullopt: not yet.
  std::optional<std::vector<MountId>> living(Revision at_least) const;
  // Whether nobody but them may have opens, or reclaim some.
  bool has_all_at_hand(const std::vector<MountId>& living) const;
  // Whether all clients of the VNFS have had time to reclaim what they had open before this mount.
  bool is_settled() const;
  void run();
  // False: somebody else has the turn of an inode.
  bool look_around();
  // Answers who asks, and records late what an open gave up. False: it is not this thread's turn.
  // Errors: as record().
  Result<bool> attend(Ino ino);
  // Takes back what nobody needs any more. Errors: as record().
  Status clean(Ino ino);
  // What this VNFS's former mounts have left, when it is settled. Errors: Session.
  Status drop_former();
  // What mounts of VNFSs have left that nobody has served for kUnclaimedLeases. Errors: Session.
  Status drop_unserved();
  // The youngest claim of any mount, when none serves the VNFS. Errors: Session::range, kCorrupt.
  Result<std::optional<Revision>> unserved_since_claim(const std::string& vnfs);
  Status erase_of(const std::string& vnfs, std::optional<kv::Compare> guard);

  kv::Session& session_;
  const env::Clock& clock_;
  ShareTable& table_;
  const Peers& peers_;
  const Gate& gate_;
  const Options options_;
  const std::int64_t loaded_ns_;

  // False while mounts of this VNFS before this one may have had opens that are still reclaimed.
  std::atomic<bool> former_dropped_;
  struct Unserved {
    std::int64_t since_ns = 0;
    std::optional<Revision> claimed;  // the youngest claim of any mount since then
  };
  std::map<std::string, Unserved> unserved_;  // by VNFS; of the thread
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace symnas::fs
