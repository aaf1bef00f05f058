// Hindrances: what keeps a VNFS from going to a head, and what to do about it. Pure functions of
// the records. They decide on orders of administrators, failbacks (plan_move.cc) and drains, and
// `symnas vnfs why` shows them. Thread-safe.
//
// Invariants (hindrances_test): plan_vnfs_rehost() orders a VNFS to a head where it is not yet
// exactly if hindrances() and hindrances_to_move() are empty; the planner (ha/policy) has an owner
// send it there, when it is to send it away, exactly if own_hindrances() is empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

struct Hindrance {
  enum class Kind {
    kNoHead,
    kNotItsHead,
    kNeverStarted,
    kFenced,
    kDraining,
    kNetworks,
    kLuns,
    // In spite of these two an administrator may order the VNFS to the head.
    kJustStarted,
    kRefused,
    // These keep it from every head but the one that has it.
    kStopped,
    kMoving,
    kHeld,
  };
  Kind kind = Kind::kNoHead;
  std::string why;   // "it is being drained"
  std::string next;  // what to do about the hindrance: "symnas head undrain c1n2"
};

// "it is being drained (symnas head undrain c1n2)"
std::string line_of(const Hindrance& hindrance);
// "draining"
const char* name_of(Hindrance::Kind kind);
// Whether the hindrance is none to an order of an administrator.
bool keeps_only_owners(Hindrance::Kind kind);

// What keeps every order from being given to that head; empty: nothing. The most lasting first.
std::vector<Hindrance> hindrances(const ClusterView& view, const records::VnfsRecord& vnfs,
                                  const std::string& head);
// hindrances(), and those that keep only the VNFS's owner from sending it there by itself.
std::vector<Hindrance> own_hindrances(const ClusterView& view, const records::VnfsRecord& vnfs,
                                      const std::string& head, std::int64_t now_ns);
// What keeps every order from being given for that VNFS, to whatever head.
std::vector<Hindrance> hindrances_to_move(const ClusterView& view, const records::VnfsRecord& vnfs,
                                          std::int64_t now_ns);

// The heads that did not take the VNFS within kRefusalNs, in their present boots.
std::vector<records::Refusal> recent_refusals(const ClusterView& view, const std::string& vnfs,
                                              std::int64_t now_ns);

}  // namespace symnas::vnfsd
