// HeadWatcher: has heads fenced that have gone. A head whose probes stay away on every network, and
// whose VIPs answer nobody, is fenced; the VNFSs that it served fall to its backups
// (docs/architecture/fencing.md). Thread class: thread-safe; looks on a loop of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "ha/detection/peer_watch.h"
#include "vnfsd/daemon/detection/clock_keeper.h"
#include "vnfsd/daemon/detection/corosync_voice.h"
#include "vnfsd/daemon/detection/last_answers.h"
#include "vnfsd/daemon/detection/neighbours.h"
#include "vnfsd/daemon/detection/network_watcher.h"
#include "vnfsd/daemon/fencing/fence_orders.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/probe/canary.h"
#include "vnfsd/probe/prober.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that HeadWatcher uses.
struct HeadWatcherParts {
  const ThisHead& head;
  ClusterReader& reader;
  EventWriter& events;
  FenceOrders& fences;
  probe::HeadSights* prober;  // null: heads are not missed, networks not looked at
  // Called when the etcd member at the address is gone with its head. Empty: nobody is told.
  std::function<void(const std::string& address)> leave_member;
  const ha::CorosyncSights* corosync = nullptr;  // null: corosync is not asked
};

class HeadWatcher {
 public:
  HeadWatcher(const HeadWatcherParts& parts, std::stop_token end);

  // Takes what the records say now. Called by the component that follows them.
  void follow(const ClusterView& view);

  void start();
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop. REQUIRES: it was not started.
  void look();

  const NetworkWatcher& networks() const { return networks_; }
  const CorosyncVoice& corosync() const { return corosync_; }
  // Heads that are not heard, with the reason why they are not fenced; "": they are being fenced,
  // or were.
  std::map<std::string, std::string> silent() const;
  // The heads that are not heard now, fenced ones too, each with the wall-clock time (ns) of the
  // last sign of it.
  std::map<std::string, std::int64_t> last_heard_ns() const;
  // Whether that boot of the head is not heard, none of its VIPs answers, and it is not fenced
  // because another decider than the builtin one is to say so.
  bool is_left_to_decider(const std::string& head, const std::string& incarnation) const;
  // Whether other heads are heard, and neither their clocks nor this one are off.
  bool clocks_agree() const;
  // As HeadSights::clocks().
  std::optional<ha::ClockSpread::Sight> clocks() const;

 private:
  std::shared_ptr<const Neighbours> neighbours() const;
  // As the prober and corosync see them, by the bounds of limits.h.
  std::vector<ha::PeerSight> sights() const;
  void ask_vips_of(const std::string& head);
  void ask_vips(const std::string& head, std::vector<IpAddress> vips);
  std::optional<probe::Sign> sign_of_vips(const std::string& head,
                                          const std::vector<IpAddress>& vips);
  void forget_question(const std::string& head);
  void leave_member_of(const std::string& head);
  void look_at_silent(const ha::PeerSight& seen);
  void forget_removed(const std::vector<ha::PeerSight>& sights);
  bool note_silence(const std::string& head, const std::optional<std::string>& why);
  // Why this head fences nobody unasked; "": it does.
  std::string why_unable(const ClusterView& view) const;
  // Why it is not fenced.
  std::string left_to_decider(const ClusterView& view, const ha::PeerSight& sight);
  // As `why`, of a head that is not fenced for that reason whoever decides.
  std::string not_left(const std::string& head, std::string why);
  std::optional<std::string> why_not_fenced(const ClusterView& view, const ha::PeerSight& sight,
                                            const std::vector<ha::PeerSight>& sights);

  const HeadWatcherParts parts_;
  const ThisHead& head_;
  NetworkWatcher networks_;
  ClockKeeper clocks_;
  CorosyncVoice corosync_;
  // Used by the loop only; by head.
  struct VipQuestion {
    std::int64_t asked_ms = 0;
    std::vector<IpAddress> vips;
    std::future<probe::Sign> sign;
  };
  std::map<std::string, VipQuestion> vip_questions_;  // of this silence of the head
  std::vector<std::future<probe::Sign>> not_needed_;  // answers that nobody waits for any more
  std::map<std::string, std::int64_t> silent_looked_ms_;
  std::set<std::string> left_members_;  // silent heads whose etcd members were left
  LastAnswers last_answers_;

  mutable Mutex mutex_;  // leaf
  // Null: nothing is known yet.
  std::shared_ptr<const Neighbours> neighbours_ GUARDED_BY(mutex_);
  // Why a silent head is not fenced, by head.
  std::map<std::string, std::string> silent_told_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> left_to_decider_ GUARDED_BY(mutex_);  // the head's boot
  Loop loop_;                                                              // last
};

}  // namespace symnas::vnfsd::daemon
