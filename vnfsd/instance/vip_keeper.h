// VipKeeper: the VIPs of a VNFS's instance on this head: none is taken that somebody else answers
// for; they are taken away while the instance may not answer, and put back. Thread class:
// thread-compatible; the calls block for some ten milliseconds, take() for an answer of the head,
// too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "vnfsd/instance/announcements.h"
#include "vnfsd/instance/host.h"
#include "vnfsd/instance/live_instance.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/supervisor_requests.h"
#include "vnfsd/instance/vip_question.h"

namespace symnas::vnfsd::instance {

class VipKeeper {
 public:
  VipKeeper(std::string vnfs, Host& host, const LiveInstance& live, SupervisorRequests& shown,
            const env::Clock& clock)
      : vnfs_(std::move(vnfs)), host_(host), live_(live), shown_(shown), clock_(clock) {}

  // Asks who else has the plan's VIPs, for min_ms at least, while the instance starts.
  void ask(const InstancePlan& plan, std::int64_t min_ms);
  // Brings `held` up to date with the answers; asks first if nobody has asked. Errors: of reading
  // the instance's addresses.
  Status look_for_holders(const InstancePlan& plan);
  // Brings up the VIPs that nobody else has; kTaken: others have all. Errors: those of
  // vnfsd/address.
  enum class Up { kYes, kTaken };
  Result<Up> take(const InstancePlan& plan);
  // There is a new process. `up`: its VIPs may be up, because it was adopted.
  void begin(bool up) {
    up_ = up;
    announcements_.stop();
  }
  bool up() const { return up_; }
  // Takes all away. Errors: as above; some may be gone.
  Status hide();
  // Puts back what hide() took. Errors: as above.
  Status show();
  // The instance's process has ended: VIPs that are up go with its links.
  void lost() {
    announcements_.stop();
    question_.reset();
  }
  // Nothing is known of others any more.
  void forget_holders();

  // The VIPs that others have: for people; "": none.
  std::string held_text() const { return text_of(held_); }
  bool holds_back() const { return !held_.empty(); }
  // --- of an instance that serves
  bool retry_is_due() const { return !held_.empty() && now_ms() >= try_ms_; }
  // Takes those of the plan that are free by now; connections to its other VIPs are left alone.
  void take_freed(InstancePlan plan);
  // Announces them again when that is due.
  bool announcement_is_due() const { return up_ && announcements_.is_due(now_ms()); }
  void announce_again();

 private:
  std::int64_t now_ms() const { return clock_.mono_ns() / 1'000'000; }
  Result<InstancePlan> without_own(InstancePlan plan) const;
  std::vector<TakenVip> who_else(const InstancePlan& plan);
  void hold(std::vector<TakenVip> taken);
  std::vector<IpAddress> held_vips() const;

  const std::string vnfs_;
  Host& host_;
  const LiveInstance& live_;
  SupervisorRequests& shown_;
  const env::Clock& clock_;

  bool up_ = false;                        // some at least, perhaps
  InstancePlan plan_;                      // what they were brought up by
  std::unique_ptr<VipQuestion> question_;  // about the VIPs of the instance that is being started
  std::vector<TakenVip> held_;             // others have them
  std::int64_t try_ms_ = 0;                // when to look again
  Announcements announcements_;            // of those that are up
};

}  // namespace symnas::vnfsd::instance
