// FenceMeans: the ways to cut a head off, and the proof of it: reservations first, because nobody
// loses its power by them, then the fence agent (docs/architecture/fencing.md). Thread-safe.
//
// Invariant: what the fence agent talks to has one session at a time: a check of it ends before it
// cuts a head off.
#pragma once

#include <functional>
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
  // Cuts a head off and answers the proof of it. Empty: no agent is configured.
  std::function<Result<std::string>(const std::string& head)> off;
  // Whether that could work, as far as its agent can tell; given up when stop_fd can be read.
  // Empty: nobody asks.
  std::function<Status(int stop_fd)> check;
};

// Proof that a head is cut off.
struct CutOff {
  std::string proof;
  std::string cuts;              // as FenceConfig::cuts
  std::optional<LunNames> luns;  // those it was proved of; nothing: it does not depend on them
};

class FenceMeans {
 public:
  // `reservations`: null = they are not configured.
  FenceMeans(const ThisHead& head, Reservations* reservations, FenceCalls calls,
             std::stop_token end);

  bool can_fence() const;  // as configured
  // As FenceOrders.
  std::string why_no_failover() const;
  Status check_can_fence(const ClusterView& view) const;

  // `still_fenced`: whether that boot of the head is still to be cut off, asked when the first way
  // has taken its time. Errors: those of it, and of the way that was tried last; the message names
  // both. REQUIRES: can_fence().
  Result<CutOff> cut_off(const std::string& head, const std::string& incarnation,
                         const std::function<Status()>& still_fenced);

  // Whether the agent's work can be checked at all.
  bool has_check() const { return static_cast<bool>(calls_.check); }
  // Nothing: it was stopped, or not begun, because the agent is wanted for a head.
  std::optional<Status> check_agent();
  // Ends a check that runs.
  void stop_check();

 private:
  Result<CutOff> preempt_head(const std::string& head, const std::string& incarnation);
  // Ends a check that runs.
  void take_fence_agent() ACQUIRE(fence_agent_mutex_);

  const ThisHead& head_;
  Reservations* const reservations_;
  const FenceCalls calls_;
  const std::stop_token end_;
  // Held while the fence agent runs for this head: what it talks to may have one session only.
  Mutex fence_agent_mutex_;
  UniqueFd stop_check_;  // eventfd: its check ends now
};

}  // namespace symnas::vnfsd::daemon
