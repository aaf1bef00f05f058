// MembershipKeeper: does what MembershipPlan decides: makes room when another mount wants to join,
// takes over from mounts that have ended, becomes sole when there is no other mount
// (several_mounts.md).
//
// Thread class: thread-safe. Owns one thread, woken by Peers; the destructor ends it between two
// steps.
#pragma once

#include <functional>

#include "common/base/ids.h"
#include "common/base/loop.h"
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
  // All are called on the keeper's thread.
  struct Actions {
    std::function<Status()> turning_sole;  // no other mount is there, and no sole stay has begun
    std::function<Status(MountId)> take_over;
  };
  // All arguments outlive it.
  MembershipKeeper(kv::Session& session, const env::Clock& clock, Membership& membership,
                   Peers& peers, FsId fs, MountId self, Actions actions);
  ~MembershipKeeper();
  MembershipKeeper(const MembershipKeeper&) = delete;
  MembershipKeeper& operator=(const MembershipKeeper&) = delete;

 private:
  // Takes the steps that are due; returns when to look again.
  std::int64_t turn();
  MembershipView look() const;
  Status act(const MembershipStep& step, const MembershipView& view);
  Status make_room(const MembershipView& view);
  Status become_sole(const MembershipView& view);
  // False: another mount changed something first.
  Result<bool> put_solo();
  // False: the keeper was stopped.
  bool wait_until_applied(Revision revision);

  kv::Session& session_;
  const env::Clock& clock_;
  Membership& membership_;
  Peers& peers_;
  const FsId fs_;
  const MountId self_;
  const Actions actions_;
  env::SeededRandom random_;
  MembershipPlan plan_;
  Loop loop_;  // last: it uses all else
};

}  // namespace symnas::fs
