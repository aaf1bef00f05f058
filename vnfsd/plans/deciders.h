// Deciders: what says where VNFSs run and which heads are fenced: the builtin planner (ha/policy),
// or pacemaker or keepalived through the orders here. Pure functions, as plans.h. Thread-safe.
//
// Invariants: there is one decider at a time, and a record says which; another one's orders are
// refused. A decider only says where: who serves is decided by the owner record (INV-8), so an
// order that is wrong or late costs a refusal, never a second owner. A decision holds for one boot
// of a head: a head that comes back serves nothing that it was not given since.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vnfsd/plans/change.h"
#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/instance_standing.h"

namespace symnas::vnfsd {

// "builtin", "pacemaker", "keepalived".
const char* name_of(records::Decider decider);
// Errors: kInvalidArgument.
Result<records::Decider> parse_decider(const std::string& name);

// Makes it the decider, and puts every VNFS: it stays where it is, wanted or (builtin, if it would
// fail back) pinned there. Errors: kAlreadyExists (it is the decider), kBusy (a VNFS is being
// moved, a head is being drained), kNotSupported (by the level of the cluster).
Result<Change> plan_decider(const ClusterView& view, records::Decider wanted);

struct DeciderOrder {
  records::Decider by = records::DECIDER_BUILTIN;
  std::string vnfs;
  std::string head;
};
// The head is to serve the VNFS: from nowhere, or by a planned move from the head that serves it.
// Errors: kAlreadyExists (so it is, or is about to be), kNotFound, kInvalidArgument (none of its
// heads), kBusy (what keeps it from that head; it is on its way to another one), kPermission (`by`
// is not the decider).
Result<Change> plan_take(const ClusterView& view, const DeciderOrder& order, std::int64_t now_ns);
// The head is not to serve the VNFS, no other one before the next plan_take(); an order there ends,
// also an answered one. Errors: kAlreadyExists (so it is), kNotFound, kPermission (as above).
Result<Change> plan_leave(const ClusterView& view, const DeciderOrder& order);

// How a VNFS stands with a head, as a decider sees it.
struct DeciderSight {
  enum class Standing {
    kServing,
    kMoving,   // it comes, goes or is being started: wait
    kSick,     // the head has it and does not serve it
    kStopped,  // the head has nothing of it
  };
  Standing standing = Standing::kStopped;
  std::string why;    // "" with kServing
  std::string owner;  // "" = nobody
};
// An instance as its head knows it.
struct InstanceSight {
  std::optional<InstanceStanding> standing;  // nullopt: the head has none
  std::string error;
};
// `here`: of the head, nullopt = another head is asked. Errors: kNotFound.
Result<DeciderSight> look_as_decider(const ClusterView& view, const std::string& vnfs,
                                     const std::string& head,
                                     const std::optional<InstanceSight>& here);
const char* name_of(DeciderSight::Standing standing);

// Whether the decision about the VNFS holds: its head has not booted since.
bool is_decision_valid(const ClusterView& view, const records::VnfsRecord& vnfs);
// How deciders are told what an administrator may not order beside them.
struct Instead {
  const char* pacemaker;
  const char* keepalived;
};
inline constexpr Instead kMoveInstead{"pcs resource move VNFS HEAD",
                                      "the priorities of its VRRP instance"};
inline constexpr Instead kStopInstead{"pcs resource disable VNFS", "stop keepalived first"};
inline constexpr Instead kDrainInstead{"pcs node standby HEAD", "stop keepalived there"};
// Errors: kBusy.
Status check_builtin_decides(const ClusterView& view, const std::string& what,
                             const Instead& instead);

}  // namespace symnas::vnfsd
