// MembershipPlan: decides what a mount has to do about other mounts: make room for one that wants
// to join, take over from one that has ended, become sole when there is none. The keeper does it.
//
// Thread class: thread-compatible. Pure: the caller gives time and random numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/peers.h"

namespace symnas::fs {

// What the keeper sees at one moment.
struct MembershipView {
  MountId self;
  Membership::Mode mode = Membership::Mode::kShared;
  bool draining = false;  // shared, and sole stays have not ended yet
  std::optional<Peers::Solo> solo;
  bool solo_wanted = false;
  bool no_others = false;
  std::vector<Peers::Ended> ended;
};

struct MembershipStep {
  enum class Kind {
    kWait,
    kMakeRoom,    // this mount has `solo`, and another mount wants to join
    kTakeOver,    // recover the mount `ended`
    kBecomeSole,  // alone for kSoloAfterNs, or `solo` is put already
  };
  Kind kind = Kind::kWait;
  MountId ended;
  std::optional<std::int64_t> wake_ns;  // kWait: call next() again by then
};

class MembershipPlan {
 public:
  // `random` is any 64-bit number: mounts that see one end must not all take over at once.
  MembershipStep next(const MembershipView& view, std::int64_t now_ns, std::uint64_t random);
  // The mount was taken over: it is not taken over again, however long a late watch still shows it.
  void taken_over(MountId ended);
  // A step failed: it is not tried again before `retry_ns`.
  void failed(const MembershipStep& step, std::int64_t retry_ns);

 private:
  std::optional<std::int64_t> alone_since_ns_;
  std::int64_t not_sole_before_ns_ = 0;
  std::map<MountId, std::int64_t> due_ns_;  // when each take-over is due
};

}  // namespace symnas::fs
