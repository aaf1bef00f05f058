#include "vnfsd/ctl/drill_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/table.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

json gap_document(const pinger::Gap& gap, std::int64_t began_ns) {
  return {{"after_ms", (gap.began_ns - began_ns) / 1'000'000}, {"ms", gap.ms()}};
}

// "": it has passed.
std::string why_not(const DrillFacts& facts) {
  if (facts.longest.ms() > facts.budget_ms) {
    return fmt::format("the longest gap, {} ms, is above the budget of {} ms", facts.longest.ms(),
                       facts.budget_ms);
  }
  if (!facts.not_back.empty())
    return fmt::format("not connected again: {}", fmt::join(facts.not_back, ", "));
  return "";
}

std::string history_text(const json& history) {
  std::string out;
  for (const json& entry : history) {
    const std::int64_t began_ns = entry.value("began_ns", std::int64_t{0});
    out += fmt::format("{} from {} to {}", entry.value("cause", "?"), entry.value("from", "?"),
                       entry.value("to", "?"));
    if (entry.contains("blackout_ms"))
      out += fmt::format(", {} ms without an answer as the heads saw it",
                         entry.value("blackout_ms", 0));
    out += "\n";
    for (const json& step : entry.value("steps", json::array())) {
      out += fmt::format("  {:>6} ms  {}\n",
                         (step.value("at_ns", std::int64_t{0}) - began_ns) / 1'000'000,
                         step.value("name", "?"));
    }
  }
  return out;
}

}  // namespace

json drill_document(const DrillFacts& facts) {
  json gaps = json::array();
  for (const pinger::Gap& gap : facts.gaps) gaps.push_back(gap_document(gap, facts.began_ns));
  const std::string why = why_not(facts);
  return {{"kind", facts.kind},
          {"vnfs", facts.vnfs},
          {"heads", facts.heads},
          {"began_ns", facts.began_ns},
          {"budget_ms", facts.budget_ms},
          {"answers", facts.answers},
          {"connections", facts.connections},
          {"longest_gap_ms", facts.longest.ms()},
          {"gaps", gaps},
          {"history", facts.history},
          {"clients", facts.clients},
          {"clients_not_back", facts.not_back},
          {"passed", why.empty()},
          {"why", why}};
}

std::string drill_text(const json& document) {
  const auto number = [&](const char* key) { return document.value(key, std::int64_t{0}); };
  std::string out = fmt::format(
      "drill: {} of vnfs {}, {}, through {}\n", document.value("kind", "?"),
      document.value("vnfs", "?"), local_time(number("began_ns")),
      fmt::join(document.value("heads", json::array()).get<std::vector<std::string>>(), ", "));
  out += history_text(document.value("history", json::array()));
  out += fmt::format("probe: {} answers on {} connections; longest gap {} ms\n", number("answers"),
                     number("connections"), number("longest_gap_ms"));
  for (const json& gap : document.value("gaps", json::array())) {
    out += fmt::format("  gap of {} ms, {} ms after the beginning\n", gap.value("ms", 0),
                       gap.value("after_ms", 0));
  }
  out += fmt::format("clients: {} were connected, {} of them are not again\n",
                     document.value("clients", json::array()).size(),
                     document.value("clients_not_back", json::array()).size());
  const std::string why = document.value("why", "");
  out += why.empty() ? fmt::format("passed: within the budget of {} ms\n", number("budget_ms"))
                     : fmt::format("failed: {}\n", why);
  return out;
}

}  // namespace symnas::vnfsd::ctl
