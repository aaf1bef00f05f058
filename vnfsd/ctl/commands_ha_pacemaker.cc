// symnas ha pacemaker generate, apply, check.
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "ha/fencing/run_program.h"
#include "vnfsd/config/config.h"
#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/head_files.h"
#include "vnfsd/ctl/pacemaker_config.h"
#include "vnfsd/ctl/quickstart_plan.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t kQueryMs = 20'000;
// pcs looks into every agent and pushes a whole configuration.
constexpr std::int64_t kChangeMs = 120'000;
constexpr std::size_t kCibBytesMax = std::size_t{16} << 20;
constexpr std::size_t kSaidBytesMax = 4096;

enum class Tool { kPcs, kCrm };

struct PacemakerOptions {
  bool by_crm = false;
};

// Its path; "" = it is not installed.
std::string found_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/sbin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/" + name;
    if (folder.starts_with("/") && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

// What it printed. Errors: kNotFound (not installed), kUnavailable (it failed).
Result<std::string> run(const Words& words, std::int64_t timeout_ms, std::size_t output_bytes_max) {
  ha::ProgramCall call;
  call.name = words[0];
  call.program = found_program(words[0]);
  if (call.program.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: not installed (apt-get install symnas-pacemaker pcs)", words[0]));
  }
  call.arguments.assign(words.begin() + 1, words.end());
  call.timeout_ms = timeout_ms;
  call.channels = ha::Channels::kApart;
  call.output_bytes_max = output_bytes_max;
  SYMNAS_ASSIGN(ha::ProgramEnd end, ha::run_program(call));
  if (end.exit_status == 0) return std::move(end.output);
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: status {}: {}", shell_command(words), end.exit_status,
                          ha::last_line(end.errors.empty() ? end.output : end.errors)));
}

struct Records {
  json vnfses;
  json heads;
  std::string decider;
};

Result<Records> records_of(Context& context) {
  Records out;
  SYMNAS_ASSIGN(out.vnfses, rows_of(context, "vnfs"));
  SYMNAS_ASSIGN(out.heads, rows_of(context, "heads"));
  SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
  out.decider = status.value("cluster", json::object()).value("decider", "builtin");
  return out;
}

Result<PacemakerPlan> changes(Context& context) {
  SYMNAS_ASSIGN(const Records records, records_of(context));
  SYMNAS_ASSIGN(const std::string xml, run({"cibadmin", "--query"}, kQueryMs, kCibBytesMax));
  SYMNAS_ASSIGN(const Cib cib, parse_cib(xml));
  const auto config = load_config(HeadPlaces().config_dir + "/vnfsd.toml");
  return pacemaker_changes(
      {records.vnfses, records.heads, records.decider, config ? config->fence.cuts : ""}, cib);
}

const std::vector<Words>& commands_of(const PacemakerStep& step, Tool tool) {
  return tool == Tool::kPcs ? step.pcs : step.crm;
}

Tool tool_of(const PacemakerOptions& o) {
  return o.by_crm || found_program("pcs").empty() ? Tool::kCrm : Tool::kPcs;
}

json document_of(const PacemakerPlan& plan, Tool tool) {
  json steps = json::array();
  for (const PacemakerStep& step : plan.steps)
    steps.push_back({{"what", step.what}, {"commands", commands_of(step, tool)}});
  return {{"steps", steps}, {"warnings", plan.warnings}};
}

// Comments and commands, so that all of it may be pasted into a shell.
Status print(Context& context, const PacemakerPlan& plan, Tool tool) {
  if (context.output == Output::kJson) {
    context.out << document_of(plan, tool).dump(2) << "\n";
    return {};
  }
  for (const PacemakerStep& step : plan.steps) {
    context.out << "# " << step.what << "\n";
    for (const Words& words : commands_of(step, tool)) context.out << shell_command(words) << "\n";
    if (commands_of(step, tool).empty()) context.out << "# (to be changed by hand)\n";
  }
  for (const std::string& warning : plan.warnings) context.out << "# look: " << warning << "\n";
  return {};
}

Status generate(Context& context, const PacemakerOptions& o) {
  SYMNAS_ASSIGN(const Records records, records_of(context));
  return print(context, pacemaker_setup({records.vnfses, records.heads, records.decider}),
               o.by_crm ? Tool::kCrm : Tool::kPcs);
}

Status check(Context& context, const PacemakerOptions& o) {
  SYMNAS_ASSIGN(const PacemakerPlan plan, changes(context));
  if (!plan.steps.empty() || !plan.warnings.empty()) context.exit_code = kExitFindings;
  if (context.output == Output::kJson) return print(context, plan, tool_of(o));
  for (const PacemakerStep& step : plan.steps) context.out << step.what << "\n";
  for (const std::string& warning : plan.warnings) context.out << warning << "\n";
  if (!plan.steps.empty()) context.out << "symnas ha pacemaker apply changes what it can of this\n";
  if (context.exit_code == 0) context.out << "pacemaker is configured as the cluster is\n";
  return {};
}

Status apply(Context& context, const PacemakerOptions& o) {
  SYMNAS_ASSIGN(const PacemakerPlan plan, changes(context));
  const Tool tool = tool_of(o);
  if (context.mode == Mode::kDryRun) return print(context, plan, tool);
  json done = json::array();
  for (const PacemakerStep& step : plan.steps) {
    const std::vector<Words>& commands = commands_of(step, tool);
    for (const Words& words : commands) {
      const auto said = run(words, kChangeMs, kSaidBytesMax);
      if (!said) {
        return fail(said.error().code,
                    fmt::format("{} [{} of {} steps were done and stay; mend this, and the same "
                                "command goes on]",
                                said.error().message, done.size(), plan.steps.size()));
      }
    }
    done.push_back(commands.empty() ? step.what + ": not changed: to be done by hand" : step.what);
  }
  for (const std::string& warning : plan.warnings) done.push_back("look: " + warning);
  if (done.empty()) done.push_back("pacemaker is configured as the cluster is");
  context.print_done(json{{"done", done}});
  return {};
}

}  // namespace

void add_ha_pacemaker(CommandLine& line, CLI::App* noun) {
  CLI::App* pacemaker =
      noun->add_subcommand("pacemaker", "What pacemaker has to be told about VNFSs and heads");
  pacemaker->require_subcommand(1);
  const auto add = [&line](CLI::App* verb, Status (*action)(Context&, const PacemakerOptions&)) {
    auto o = std::make_shared<PacemakerOptions>();
    verb->add_flag("--crm", o->by_crm, "By crm, also if there is pcs");
    verb->callback([&line, o, action] {
      line.action = [o, action](Context& context) { return action(context, *o); };
    });
  };
  add(pacemaker->add_subcommand("generate", "Print the commands for a cluster that has nothing"),
      generate);
  add(add_change_verb(line, pacemaker, "apply", "Configure what is missing or different"), apply);
  add(pacemaker->add_subcommand("check",
                                "Compare what is configured with what should be; ends "
                                "with 8 if there is a difference"),
      check);
}

}  // namespace symnas::vnfsd::ctl
