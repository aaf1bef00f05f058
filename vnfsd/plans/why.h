// Why a VNFS is on a head now, may go there, or may not: what `symnas vnfs why` shows. Nothing is
// decided here: the assignment is the planner's (ha/policy), whether an order is taken is
// hindrances.h's, the rest are plans of plans.h and placement.h. A pure function. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ha/policy/planner.h"
#include "vnfsd/plans/hindrances.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// A way by which the VNFS may come to the head; kNotByItself: why it does not come without an
// order.
struct Way {
  enum class Kind { kRehost, kFailback, kNotByItself, kTakeover };
  Kind kind = Kind::kRehost;
  std::string what;  // "an order moves it there"
  std::string next;  // "symnas vnfs rehost v1 c1n2"; "" = nothing is to be done
};

struct Standing {
  enum class Verdict {
    kRuns,    // the head owns it, and is not lost
    kComing,  // it is being moved there
    kNext,    // the planner has it go there
    kMay,     // an order moves it there
    kMayNot,
  };
  enum class Standby { kNone, kStarting, kReady };

  Verdict verdict = Verdict::kMayNot;
  std::string owner;  // "" = nobody
  int rank = -1;      // among its heads, 0 = primary; -1 = none of them
  Standby standby = Standby::kNone;
  // Where the VNFS is to be. A VNFS that fails back by itself counts as if every head had settled.
  ha::Assignment assignment;
  std::string plan;                   // the same as a sentence
  std::vector<Hindrance> hindrances;  // to its going there, or staying
  std::vector<Way> ways;              // if it may go there
};

// REQUIRES: the VNFS exists; now_ns: wall clock.
Standing standing_of(const ClusterView& view, const std::string& vnfs, const std::string& head,
                     std::int64_t now_ns);

const char* name_of(Standing::Verdict verdict);  // "may_not"
const char* name_of(Standing::Standby standby);  // "ready"
const char* name_of(Way::Kind kind);             // "rehost"

}  // namespace symnas::vnfsd
