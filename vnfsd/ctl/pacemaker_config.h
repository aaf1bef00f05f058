// What pacemaker is to be told about the VNFSs of a cluster: from the records and from what is
// configured there to what is missing, as commands for pcs and for crm. Thread-safe: pure
// functions.
//
// Invariants: nothing is ever deleted but location constraints as pcs names them
// (location-RESOURCE-NODE-SCORE; it has one for a resource and a node); what else contradicts is
// said in words. A resource is not managed before it has its scores.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/ctl/cib.h"

namespace symnas::vnfsd::ctl {

inline constexpr const char* kVnfsAgent = "ocf:symnas:vnfs";
// The primary has the first score, every backup kScoreStep less: 16 heads at most.
inline constexpr int kScoreFirst = 1000;
inline constexpr int kScoreStep = 50;
// With failback manual: more than any head's score.
inline constexpr int kStickiness = 2000;
// As the agent's default for vnfsd_grace.
inline constexpr int kVnfsdGraceS = 20;

using Words = std::vector<std::string>;

struct PacemakerStep {
  std::string what;        // what is not as it should be
  std::vector<Words> pcs;  // commands, in this order
  std::vector<Words> crm;  // the same; none: it cannot be done by one
};

struct PacemakerPlan {
  std::vector<PacemakerStep> steps;
  std::vector<std::string> warnings;  // what a person has to look at
};

struct PacemakerFacts {
  const nlohmann::json& vnfses;  // of /v1/vnfs
  const nlohmann::json& heads;   // of /v1/heads
  std::string decider;           // of /v1/status
  std::string cuts = {};         // [fence] cuts of this head's vnfsd.toml; "" = not known
};

// What there is to do in a cluster without any configuration: complete, and no warnings of what is
// there.
PacemakerPlan pacemaker_setup(const PacemakerFacts& facts);
// What there is to do where `cib` is configured.
PacemakerPlan pacemaker_changes(const PacemakerFacts& facts, const Cib& cib);

// Seconds of a duration of pacemaker ("40", "40s", "500ms", "2min", "1h"); -1: none of these.
double seconds_of(const std::string& duration);

}  // namespace symnas::vnfsd::ctl
