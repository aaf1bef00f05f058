#include "vnfsd/ctl/commands_repair.h"

#include <unistd.h>

#include <iostream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/progress_bar.h"
#include "vnfsd/ctl/table.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr int kLongWaitS = 3600;

std::uint64_t count(const json& document, const char* key) {
  return document.value(key, std::uint64_t{0});
}

void print_steps(std::ostream& out, const json& plan, const char* verdict, const char* title) {
  bool first = true;
  for (const json& step : plan.value("steps", json::array())) {
    if (step.value("verdict", "") != verdict) continue;
    if (std::exchange(first, false)) out << title << "\n";
    out << "  " << step.value("finding", "") << "\n    " << step.value("text", "") << "\n";
  }
}

void print_plan(std::ostream& out, const json& plan) {
  print_steps(out, plan, "refuse", "Refused:");
  print_steps(out, plan, "later", "Later, or with other steps:");
  print_steps(out, plan, "repair", "To be done:");
  const std::uint64_t total = count(plan, "findings_total");
  out << fmt::format("fs {}: {} {}, {} of them can be repaired now; revision {}\n",
                     plan.value("filesystem", ""), total, total == 1 ? "finding" : "findings",
                     count(plan, "due"), count(plan, "revision"));
}

// Whether the plan shall be carried out. Errors: kInvalidArgument (nobody can be asked).
Result<bool> ask(Context& context, const RepairOptions& o) {
  if (o.yes) return true;
  if (context.output == Output::kJson || ::isatty(STDIN_FILENO) == 0)
    return fail(ErrorCode::kInvalidArgument,
                "fs check: nothing is repaired: --yes says that the steps above are meant "
                "(--dry-run shows them only)");
  context.out << "Carry this out? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

// One plan, and what was done of it. False: no further one is needed.
Result<bool> round(Context& context, const RepairOptions& o, json& document) {
  const std::string path = "/v1/filesystems/" + o.name;
  SYMNAS_ASSIGN(json plan, request_long(context, path + "/repair-plan", json::object()));
  document["findings_total"] = plan["findings_total"];
  document["rounds"].push_back({{"plan", plan}});
  if (context.output == Output::kTable) print_plan(context.out, plan);
  if (count(plan, "due") == 0 || o.dry_run) return false;
  SYMNAS_ASSIGN(const bool wanted, ask(context, o));
  if (!wanted) return false;
  SYMNAS_ASSIGN(const json report,
                request_long(context, path + "/repair", {{"plan", plan.value("plan", "")}}));
  document["rounds"].back()["report"] = report;
  if (context.output == Output::kTable)
    context.out << fmt::format("fs {}: {} repaired, {} had changed meanwhile\n\n", o.name,
                               count(report, "done"), count(report, "changed"));
  return true;
}

}  // namespace

Status repair_filesystem(Context& context, const RepairOptions& o) {
  context.client.wait_at_most(kLongWaitS);
  json document = {{"filesystem", o.name}, {"findings_total", 0}, {"rounds", json::array()}};
  bool more = true;
  for (int i = 0; i < kRepairRoundsMax && more; ++i) {
    SYMNAS_ASSIGN(more, round(context, o, document));
  }
  if (context.output == Output::kJson) context.out << document.dump(2) << "\n";
  if (count(document, "findings_total") > 0) context.exit_code = kExitFindings;
  return {};
}

Status show_repairs(Context& context, const std::string& name) {
  SYMNAS_ASSIGN(json document,
                context.client.request("GET", "/v1/filesystems/" + name + "/repairs", {}));
  for (json& repair : document["repairs"])
    if (context.output == Output::kTable)
      repair["at"] = local_time(repair.value("at_ns", std::int64_t{0}));
  return context.print(document, "repairs",
                       {plain("AT", "at"), plain("HEAD", "head"), plain("FINDING", "finding"),
                        plain("REPAIR", "action")});
}

}  // namespace symnas::vnfsd::ctl
