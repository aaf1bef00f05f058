// The planner: which head is to serve which VNFS. A pure function of what the records say. Every
// head computes the plan for itself and does its own part of it.
//
// Invariant: a VNFS stays where it is unless an administrator moves it, its head cannot serve it
// any more (and another one can) or is being drained, or it fails back by itself to a head that has
// settled. A head that claims a VNFS still needs the owner record (INV-8), so two heads that plan
// from different records never both serve it. Planning again after a plan was carried out changes
// nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace symnas::ha {

enum class HeadState {
  kServing,
  kDraining,  // keeps nothing that another head can take
  kLost,      // fenced, or never registered: serves nothing until its next boot
};

enum class Failback {
  kManual,  // goes back only on an administrator's order
  kAuto,    // goes back to an earlier one of its heads as soon as that head has settled
};

struct VnfsFacts {
  std::vector<std::string> heads;  // that may serve it, the primary first
  std::set<std::string> blind;     // of these: heads that do not reach all its LUNs and networks
  std::set<std::string> refused;   // of these: heads that did not take it lately
  std::string owner;               // "" = nobody
  bool ailing = false;   // its owner's head has reached its LUNs or networks badly for a while
  std::string target;    // the head it is being moved to, if that head is ready; "" = none
  bool stopped = false;  // by the administrator
  Failback failback = Failback::kManual;
  std::string pinned;   // head an administrator has moved it to: it does not fail back from there
  std::string decided;  // where the decider wants it, if Facts::decided; "" = nowhere
};

struct Facts {
  std::map<std::string, HeadState> heads;  // a head that is not in here is lost
  std::set<std::string> settled;           // have served for long: a failback goes only to these
  std::map<std::string, VnfsFacts> vnfses;
  bool decided = false;  // something else decides; the planner only says what follows from that
};

enum class Reason {
  kStopped,      // by the administrator
  kOrdered,      // an administrator moves it there
  kStays,        // its owner serves it
  kHeld,         // its owner is lost; nobody may claim it before the owner's end is proved
  kFirst,        // the first of its heads that can serve
  kBalanced,     // a later one of its heads: the earlier ones have their share
  kForced,       // it goes to a head that is being drained: no other head can serve it
  kDrained,      // away from a head that is being drained
  kAiling,       // away from a head that reaches its LUNs or networks badly, to one that does not
  kFailback,     // back to an earlier one of its heads
  kDistributed,  // to the head that its preferences and the shares give it
  kNowhere,      // none of its heads can serve
  kDecided,      // the decider wants it there
  kLeft,         // the decider wants it nowhere
};

struct Assignment {
  std::string head;  // "" = nobody is to serve it
  Reason reason = Reason::kNowhere;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

// Where each VNFS is to be served, by VNFS. A head's share is the number of VNFSs that are not
// stopped divided by the number of serving heads, rounded up. The share limits how many VNFSs a
// head gets of those that nobody owns, that a drained head gives up, or that go back by themselves;
// a head gets more only when every other head that could serve the VNFS has its share too. A head
// that does not see all LUNs of a VNFS gets it only when no head that sees them can serve it, and a
// head that is being drained only when no serving head sees them. When something else decides, a
// VNFS stays with an owner until the decider orders it away, and one that nobody owns goes where
// the decider wants it.
std::map<std::string, Assignment> plan(const Facts& facts);

// Whether the VNFS has an owner that goes on serving until the new head has answered the owner's
// order.
bool needs_order(Reason reason);

// The moves that bring every VNFS that a serving head owns to the best of its heads: first as many
// as possible to the first of their heads, then to the second, and so on. No head gets more than
// its share unless every head of a VNFS has its share. Contains only VNFSs whose head changes.
std::map<std::string, Assignment> distribute(const Facts& facts);

const char* name_of(Reason reason);

}  // namespace symnas::ha
