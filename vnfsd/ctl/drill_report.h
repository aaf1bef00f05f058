// DrillReport: what a drill has shown, and whether that is good enough. Thread-safe: pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "vnfsd/pinger/answer_times.h"

namespace symnas::vnfsd::ctl {

struct DrillFacts {
  std::string kind;  // move, kill
  std::string vnfs;
  std::vector<std::string> heads;  // that the VNFS went through, the first one again at the end
  std::int64_t began_ns = 0;       // wall clock
  std::int64_t budget_ms = 0;      // of one pause
  std::uint64_t answers = 0;       // that the probe got
  std::uint64_t connections = 0;   // that the probe made, the first one included
  pinger::Gap longest;
  std::vector<pinger::Gap> gaps;      // the longer ones
  nlohmann::json history;             // the entries of `vnfs history` since the drill began
  std::vector<std::string> clients;   // connected before
  std::vector<std::string> not_back;  // those of `clients` that are not connected afterwards
};

// {kind, vnfs, heads, began_ns, budget_ms, answers, connections, longest_gap_ms, gaps, history,
// clients, clients_not_back, passed, why}
nlohmann::json drill_document(const DrillFacts& facts);
// Text for people, made from drill_document().
std::string drill_text(const nlohmann::json& document);

}  // namespace symnas::vnfsd::ctl
