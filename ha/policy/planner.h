// The planner: which head is to serve which VNFS. A pure function of what the records say; every
// head computes it for itself and claims what falls to it.
//
// Invariant: a VNFS stays where it is unless an administrator moves it or its head cannot serve it
// any more; whoever claims still needs the owner record (INV-8), so two heads that plan from
// different records never both serve.
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

struct VnfsFacts {
  std::vector<std::string> heads;  // that may serve it, the primary first
  std::set<std::string> blind;     // of them: those that do not see all its LUNs
  std::string owner;               // "" = nobody
  std::string target;    // where it is being moved to, if that head is ready; "" = nowhere
  bool stopped = false;  // by the administrator
};

struct Facts {
  std::map<std::string, HeadState> heads;  // all others are lost
  std::map<std::string, VnfsFacts> vnfses;
};

enum class Reason {
  kStopped,   // by the administrator
  kOrdered,   // an administrator moves it there
  kStays,     // its owner serves it
  kHeld,      // its owner is lost, and nobody may claim it before its end is proved
  kFirst,     // the first of its heads that can serve
  kBalanced,  // a later one of its heads: the earlier ones have their share
  kDrained,   // away from a head that is being drained
  kNowhere,   // none of its heads can serve
};

struct Place {
  std::string head;  // "" = nobody is to serve it
  Reason reason = Reason::kNowhere;
  friend bool operator==(const Place&, const Place&) = default;
};

// By VNFS. A head's share, in what nobody owns or a drained head gives up: the number of VNFSs
// that are not stopped by the number of serving heads, rounded up; beyond it only when every other
// head that could serve a VNFS has its share too. A head that does not see all LUNs of a VNFS gets
// it only when no other one does.
std::map<std::string, Place> plan(const Facts& facts);

const char* name_of(Reason reason);

}  // namespace symnas::ha
