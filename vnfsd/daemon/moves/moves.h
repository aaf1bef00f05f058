// Moves: this head's part in the moves of VNFSs. It answers orders to take one, and orders the
// moves of its own VNFSs that drains, failback and bad LUNs or networks want, so that each VNFS has
// one head that decides on it (docs/architecture/moves.md; what is to be done is planned in
// vnfsd/plans/placement.h). Thread class: confined to the loop that follows the records.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vnfsd/daemon/detection/network_reach.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/health/lun_health.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/luns/registrations.h"
#include "vnfsd/daemon/moves/order_ages.h"
#include "vnfsd/daemon/moves/settling.h"
#include "vnfsd/daemon/ownership/ownership.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that Moves uses.
struct MovesParts {
  const ThisHead& head;
  EventWriter& events;
  const Registrations& registrations;
  const LunCanaries& canaries;
  const NetworkReach& networks;
  const Instances& instances;
  Ownership& ownership;
};

class Moves {
 public:
  explicit Moves(const MovesParts& parts) : parts_(parts), head_(parts.head) {}

  // A step that fails is repeated with the next look at the records.
  void follow(const ClusterView& view);
  // VNFSs of other heads that are on their way here.
  const std::set<std::string>& preparing() const { return preparing_; }
  // Whether moves that this head has ordered are under way.
  bool are_under_way() const { return moving_; }

 private:
  // Answers the orders to move a VNFS here: this boot will claim it. `ages`: of OrderAges.
  void answer_moves(const ClusterView& view, const std::map<Revision, std::int64_t>& ages);
  void prepare_for_fences(const ClusterView& view);
  Status check_can_take(const ClusterView& view, const std::string& vnfs) const;
  // Says in the order why it is not answered.
  void say_why_not(const std::string& vnfs, const Stored<records::MoveRecord>& move,
                   const std::string& why);
  // Orders the moves of its own VNFSs that the planner wants, and takes orders back.
  void order_moves(const ClusterView& view, std::map<Revision, std::int64_t> ages);
  void look_at_drain(const ClusterView& view);
  void finish_move(const ClusterView& view, const std::string& vnfs);
  // Whether the VNFS's standby waits for its claim. `why_not`: set if it cannot as things are.
  bool is_prepared(const std::string& vnfs, std::string& why_not);

  const MovesParts parts_;
  const ThisHead& head_;
  std::set<std::string> preparing_;
  // Boots whose fence has failed: the revision of the fence record, and when it was first seen
  // (monotonic).
  std::map<std::string, std::pair<Revision, std::int64_t>> unproven_;
  bool moving_ = false;
  bool drains_ = false;  // this head is being drained, and owns VNFSs
  SettleWatch settling_;
  OrderAges order_ages_;
};

}  // namespace symnas::vnfsd::daemon
