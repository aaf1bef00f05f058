// FenceMeans: cuts a head off and proves that it did, by the configured ways: reservations first,
// because no head loses its power by them, then the fence agent (docs/architecture/fencing.md).
// While pacemaker is the decider, what its fencer has turned off is proved by that, and its fencer
// is asked where nothing else is configured (docs/decisions/0014). Thread-safe.
//
// Invariant: the device that the fence agent talks to has one session at a time: a check of the
// agent ends before the agent cuts a head off.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/thread_annotations.h"
#include "common/base/unique_fd.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/luns/reservations.h"

namespace symnas::vnfsd::daemon {

// The fence agent (ha/fencing).
struct FenceCalls {
  // Cuts a head off and returns the proof. Empty: no agent is configured.
  std::function<Result<std::string>(const std::string& head)> off;
  // Whether off() could work, as far as the agent can tell; given up when stop_fd becomes readable.
  // Empty: nobody asks.
  std::function<Status(int stop_fd)> check;
  // pacemaker's fencer, asked while pacemaker is the decider. Empty: it is not asked. Both return
  // the proof, of an `off` that ended at that time (seconds since the epoch) or later.
  using Stonith = std::function<Result<std::string>(const std::string& head, std::int64_t since_s)>;
  Stonith stonith_confirmed;  // it has had the head turned off
  Stonith stonith_off;        // it has the head turned off now
};

// Proof that a head is cut off.
struct CutOff {
  std::string proof;
  std::string cuts;              // as FenceConfig::cuts
  std::optional<LunNames> luns;  // the LUNs that the proof is about; nullopt: it is not about LUNs
};

class FenceMeans {
 public:
  // `reservations`: null = they are not configured.
  FenceMeans(const ThisHead& head, Reservations* reservations, FenceCalls calls,
             std::stop_token end);

  // Takes what the records say now. `clocks_agree`: those of the heads that are heard.
  void follow(const ClusterView& view, bool clocks_agree);
  bool can_fence() const;  // as configured
  // As FenceOrders.
  std::string why_no_failover() const;
  Status check_can_fence(const ClusterView& view) const;

  // `still_fenced`: whether that boot of the head is still to be cut off; asked before the agent is
  // tried, because reservations may have taken a minute. Errors: those of still_fenced(), and of
  // the way that was tried last; the message has the reasons of both ways. REQUIRES: can_fence().
  Result<CutOff> cut_off(const std::string& head, const std::string& incarnation,
                         const std::function<Status()>& still_fenced);

  // Whether the agent's work can be checked at all.
  bool has_check() const { return static_cast<bool>(calls_.check); }
  // nullopt: the check was stopped, or not begun, because the agent is wanted for a head.
  std::optional<Status> check_agent();
  // Ends a check that runs.
  void stop_check();

 private:
  // Since when (wall clock, seconds) it is known that the head's last boot is that one, if proofs
  // of pacemaker count and their times can be compared with this clock.
  std::optional<std::int64_t> boot_known_since_s(const std::string& head,
                                                 const std::string& incarnation) const;
  bool has_stonith() const;
  Result<CutOff> ask_stonith(const std::string& head);
  Result<CutOff> preempt_head(const std::string& head, const std::string& incarnation);
  // Ends a check that runs.
  void take_fence_agent() ACQUIRE(fence_agent_mutex_);

  const ThisHead& head_;
  Reservations* const reservations_;
  const FenceCalls calls_;
  const std::stop_token end_;
  // Held while the fence agent runs for this head: the device that it talks to may have one session
  // only.
  Mutex fence_agent_mutex_;
  UniqueFd stop_check_;  // eventfd: a running check ends now

  // A boot, and when it was first seen in the head's record (monotonic clock), while clocks agreed
  // all the time since.
  struct Boot {
    std::string incarnation;
    std::int64_t seen_mono_ns = 0;
  };
  mutable Mutex mutex_;  // leaf
  bool by_pacemaker_ GUARDED_BY(mutex_) = false;
  bool clocks_agree_ GUARDED_BY(mutex_) = false;
  std::map<std::string, Boot> boots_ GUARDED_BY(mutex_);  // by head
};

}  // namespace symnas::vnfsd::daemon
