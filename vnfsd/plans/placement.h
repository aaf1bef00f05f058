// Changes that move VNFSs without naming a head: drains, failback, and the orders that an owner
// gives itself. Pure functions, as plans.h. Thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {

// From now on the head gives its VNFSs to others, and takes none that another head can serve; its
// VNFSs' agents order the moves. Change::what: a line for the head and one for each of its VNFSs.
// Errors: kNotFound.
Result<Change> plan_head_drain(const ClusterView& view, const std::string& head,
                               std::int64_t now_ns);
Result<Change> plan_head_undrain(const ClusterView& view, const std::string& head);

// Orders a VNFS to the first of its heads that can serve it now, and takes its pin away. When the
// VNFS is there already, only takes the pin away. Errors: as plan_vnfs_rehost; kBusy (none of its
// heads can serve it).
Result<Change> plan_vnfs_failback(const ClusterView& view, const std::string& name,
                                  std::int64_t now_ns);

// What `head` has to do now for the VNFSs that it owns: order the next moves that the planner
// wants, at most kMovesAtOnceMax at a time; take back orders that nobody answers; forget pins and
// refusals that are over. Errors: kNotFound (nothing).
Result<Change> plan_own_moves(const ClusterView& view, const std::string& head,
                              const Observed& observed);
// Whether moves that `head` ordered are under way.
bool has_own_moves(const ClusterView& view, const std::string& head);

// VNFSs of heads that are being fenced, and that `head` is to serve when that is done.
std::set<std::string> falling_to(const ClusterView& view, const std::string& head);

// Why the VNFS stays where it is although its head is being drained, a text for each other head of
// it that does not take it; empty: one of them can.
std::vector<std::string> reasons_to_stay(const ClusterView& view, const std::string& vnfs,
                                         std::int64_t now_ns);

// --- parts of a change

// Whether the head's present boot has answered: another boot may lack what that one had.
bool was_answered(const ClusterView& view, const records::MoveRecord& move);
// Puts the VNFS with that pin, unless it has it.
void set_pin(const records::VnfsRecord& vnfs, const std::string& pin, Change& change);
// Erases the order; the pin is as before the order. REQUIRES: there is an order.
void take_back(const ClusterView& view, const std::string& vnfs, Change& change);

}  // namespace symnas::vnfsd
