// The planner: which head is to serve which VNFS. A pure function of what the records say; every
// head computes it for itself and does what falls to it.
//
// Invariant: a VNFS stays where it is unless an administrator moves it, its head cannot serve it
// any more (and another one can) or is being drained, or it fails back by itself to a head that has
// settled; whoever claims still needs the owner record (INV-8), so two heads that plan from
// different records never both serve. A plan that was carried out is planned again.
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
  kManual,  // goes back only when it is told to
  kAuto,    // goes to an earlier one of its heads as soon as that has settled
};

struct VnfsFacts {
  std::vector<std::string> heads;  // that may serve it, the primary first
  std::set<std::string> blind;     // of them: those that do not reach all its LUNs and networks
  std::set<std::string> refused;   // of them: those that did not take it lately
  std::string owner;               // "" = nobody
  bool ailing = false;  // its owner's head reaches its LUNs or networks badly, and not for a moment
  std::string target;   // where it is being moved to, if that head is ready; "" = nowhere
  bool stopped = false;  // by the administrator
  Failback failback = Failback::kManual;
  std::string pinned;  // where an administrator has moved it to: it does not fail back from there
};

struct Facts {
  std::map<std::string, HeadState> heads;  // all others are lost
  std::set<std::string> settled;           // have served for long: failback goes to no others
  std::map<std::string, VnfsFacts> vnfses;
};

enum class Reason {
  kStopped,      // by the administrator
  kOrdered,      // an administrator moves it there
  kStays,        // its owner serves it
  kHeld,         // its owner is lost, and nobody may claim it before its end is proved
  kFirst,        // the first of its heads that can serve
  kBalanced,     // a later one of its heads: the earlier ones have their share
  kForced,       // a head that is being drained: nobody else can serve
  kDrained,      // away from a head that is being drained
  kAiling,       // away from a head that reaches its LUNs or networks badly, to one that does not
  kFailback,     // back to an earlier one of its heads
  kDistributed,  // to the place that its preferences and the shares give it
  kNowhere,      // none of its heads can serve
};

struct Place {
  std::string head;  // "" = nobody is to serve it
  Reason reason = Reason::kNowhere;
  friend bool operator==(const Place&, const Place&) = default;
};

// By VNFS. A head's share, in what nobody owns, a drained head gives up or goes back by itself: the
// number of VNFSs that are not stopped by the number of serving heads, rounded up; beyond it only
// when every other head that could serve a VNFS has its share too. A head that does not see all
// LUNs of a VNFS gets it only when no other one does, a head that is being drained only when no
// serving head sees them.
std::map<std::string, Place> plan(const Facts& facts);

// Whether the VNFS has an owner that goes on serving until the new head has answered its order.
bool needs_order(Reason reason);

// The moves that bring every VNFS that a serving head owns to the best of its heads: first all that
// can be on the first of theirs, then on the second, ..., no head above its share unless every head
// of a VNFS has its share. Only those that are elsewhere now.
std::map<std::string, Place> distribute(const Facts& facts);

const char* name_of(Reason reason);

}  // namespace symnas::ha
