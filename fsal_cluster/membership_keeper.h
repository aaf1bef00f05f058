// MembershipKeeper: acts on what MembershipPlan decides: makes room when somebody wants to join,
// takes over from mounts that have ended, becomes sole when nobody else is left
// (several_mounts.md).
//
// Thread class: thread-safe. Owns one thread, woken by Peers; the destructor ends it between two
// steps.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/env/random.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/membership_plan.h"
#include "fsal_cluster/state/peers.h"

namespace symnas::fs {

class MembershipKeeper {
 public:
  // All called on the keeper's thread.
  struct Actions {
    std::function<Status()> turning_sole;  // nobody else is there; no sole stay has begun
    std::function<Status(MountId)> take_over;
  };
  // Everything outlives it.
  MembershipKeeper(kv::Session& session, const env::Clock& clock, Membership& membership,
                   Peers& peers, FsId fs, MountId self, Actions actions);
  ~MembershipKeeper();
  MembershipKeeper(const MembershipKeeper&) = delete;
  MembershipKeeper& operator=(const MembershipKeeper&) = delete;

 private:
  void run();
  MembershipView look() const;
  Status act(const MembershipStep& step, const MembershipView& view);
  Status make_room(const MembershipView& view);
  Status become_sole(const MembershipView& view);
  // False: somebody else was faster.
  Result<bool> put_solo();
  // False: stopped.
  bool wait_until_applied(Revision revision);
  bool stopped_within(std::int64_t span_ns);

  kv::Session& session_;
  const env::Clock& clock_;
  Membership& membership_;
  Peers& peers_;
  const FsId fs_;
  const MountId self_;
  const Actions actions_;
  env::SeededRandom random_;
  MembershipPlan plan_;

  std::mutex mutex_;  // leaf
  std::condition_variable wake_;
  bool stop_ = false;   // guarded by mutex_
  bool woken_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace symnas::fs
