// What keeps a VNFS from going to a head, and what to do about each: pure functions of the records.
// Orders of administrators and failbacks (plan_move.cc) and drains are decided by them, and `symnas
// vnfs why` shows them. Thread-safe.
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
    // Of these an administrator may order it there all the same.
    kJustStarted,
    kRefused,
    // To any head but the one that has it.
    kStopped,
    kMoving,
    kHeld,
  };
  Kind kind = Kind::kNoHead;
  std::string why;   // "it is being drained"
  std::string next;  // what to do about it: "symnas head undrain c1n2"
};

// "it is being drained (symnas head undrain c1n2)"
std::string line_of(const Hindrance& hindrance);
// "draining"
const char* name_of(Hindrance::Kind kind);
// Whether it is none to an order of an administrator.
bool keeps_only_owners(Hindrance::Kind kind);

// What keeps every order from being given to that head; empty: nothing. The most lasting first.
std::vector<Hindrance> hindrances(const ClusterView& view, const records::VnfsRecord& vnfs,
                                  const std::string& head);
// The same, and what keeps only the VNFS's owner from sending it there by itself.
std::vector<Hindrance> own_hindrances(const ClusterView& view, const records::VnfsRecord& vnfs,
                                      const std::string& head, std::int64_t now_ns);
// What keeps every order from being given for that VNFS, to whatever head.
std::vector<Hindrance> hindrances_to_move(const ClusterView& view, const records::VnfsRecord& vnfs,
                                          std::int64_t now_ns);

// Who did not take the VNFS within kRefusalNs; of the present boots of heads.
std::vector<records::Refusal> recent_refusals(const ClusterView& view, const std::string& vnfs,
                                              std::int64_t now_ns);

}  // namespace symnas::vnfsd
