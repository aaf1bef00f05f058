// Documents about repairs.
#include <nlohmann/json.hpp>

#include "common/base/bytes.h"
#include "vnfsd/api/inspection.h"

namespace symnas::vnfsd::api {

using nlohmann::json;

json plan_document(const fs::repair::Plan& plan, const std::string& id) {
  json steps = json::array();
  std::uint64_t due = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const fs::repair::Step& step = plan.steps[i];
    if (plan.is_due(step)) ++due;
    json keys = json::array();
    for (const fs::repair::Change& change : step.changes) {
      json key = {{"key", to_hex(change.key)}};
      if (change.before) key["before"] = to_hex(*change.before);
      if (change.after) key["after"] = to_hex(*change.after);
      keys.push_back(std::move(key));
    }
    steps.push_back({{"number", i},
                     {"kind", fs::check::word(step.finding.kind)},
                     {"finding", step.object},
                     {"verdict", fs::repair::word(step.verdict)},
                     {"text", step.text},
                     {"keys", std::move(keys)}});
  }
  return {
      {"filesystem", plan.filesystem},         {"plan", id}, {"revision", plan.revision.value()},
      {"findings_total", plan.findings_total}, {"due", due}, {"steps", std::move(steps)}};
}

json repair_document(const fs::repair::Plan& plan, const std::string& id,
                     const std::vector<fs::repair::Outcome>& outcomes) {
  json steps = json::array();
  std::uint64_t done = 0;
  for (const fs::repair::Outcome& outcome : outcomes) {
    const bool is_done = outcome.applied == fs::repair::Applied::kDone;
    if (is_done) ++done;
    const fs::repair::Step& step = plan.steps[outcome.step];
    steps.push_back({{"number", outcome.step},
                     {"finding", step.object},
                     {"text", step.text},
                     {"outcome", is_done ? "done" : "changed"}});
  }
  return {{"filesystem", plan.filesystem},
          {"plan", id},
          {"done", done},
          {"changed", outcomes.size() - done},
          {"steps", std::move(steps)}};
}

json repairs_document(const std::string& filesystem,
                      const std::vector<fs::records::RepairRecord>& records) {
  json repairs = json::array();
  for (const fs::records::RepairRecord& record : records) {
    json keys = json::array();
    for (const auto& change : record.changes()) {
      json key = {{"key", to_hex(change.key())}};
      if (change.has_before()) key["before"] = to_hex(change.before());
      if (change.has_after()) key["after"] = to_hex(change.after());
      keys.push_back(std::move(key));
    }
    repairs.push_back({{"at_ns", record.at_ns()},
                       {"head", record.head()},
                       {"finding", record.finding()},
                       {"action", record.action()},
                       {"keys", std::move(keys)}});
  }
  return {{"filesystem", filesystem}, {"repairs", std::move(repairs)}};
}

}  // namespace symnas::vnfsd::api
