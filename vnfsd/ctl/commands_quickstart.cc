// symnas quickstart: proposes what makes a filesystem served, or does it.
#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/quickstart_plan.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// A head looks for a new LUN as soon as it has heard of it, and says so in its record.
constexpr auto kSeenWithin = std::chrono::seconds(20);
constexpr auto kSeenPoll = std::chrono::milliseconds(200);

struct Options {
  QuickstartWish wish;
  std::vector<std::string> paths;
  bool commit = false;
};

// Devices are looked at only if the volume still has to be made.
Result<QuickstartSeen> look_around(Context& context, const Options& o) {
  QuickstartSeen seen;
  SYMNAS_ASSIGN(seen.heads, rows_of(context, "heads"));
  SYMNAS_ASSIGN(seen.networks, rows_of(context, "networks"));
  SYMNAS_ASSIGN(seen.luns, rows_of(context, "luns"));
  SYMNAS_ASSIGN(seen.volumes, rows_of(context, "volumes"));
  SYMNAS_ASSIGN(seen.filesystems, rows_of(context, "filesystems"));
  SYMNAS_ASSIGN(seen.exports, rows_of(context, "exports"));
  SYMNAS_ASSIGN(seen.vnfs, rows_of(context, "vnfs"));
  seen.devices = json::array();
  const auto has = [](const json& rows, const std::string& name) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const json& row) { return row.value("name", "") == name; });
  };
  if (has(seen.filesystems, o.wish.name) || has(seen.volumes, o.wish.volume)) return seen;
  SYMNAS_ASSIGN(const json scan,
                context.client.request("POST", "/v1/lun-scan", {{"paths", o.paths}}));
  seen.devices = scan.value("devices", json::array());
  return seen;
}

std::string command_of(const QuickstartStep& step) { return "symnas " + shell_command(step.words); }

// A path may have a line end in it, behind which a shell would not see a comment any more.
std::string comment(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, '?');
  return "# " + text + "\n";
}

// Comments and commands, so that all of it may be pasted into a shell.
void print(std::ostream& out, const QuickstartProposal& proposal) {
  for (const std::string& what : proposal.there) out << comment("there: " + what);
  for (const QuickstartStep& step : proposal.steps)
    out << comment(step.why) << command_of(step) << "\n";
  for (const std::string& what : proposal.missing) out << comment("missing: " + what);
  for (const std::string& what : proposal.notes) out << comment("note: " + what);
  for (const std::string& command : proposal.mounts)
    out << comment("then, on a Linux client: " + command);
  if (!proposal.missing.empty()) {
    out << "# nothing has been changed: say what is missing, then the commands are complete\n";
  } else if (!proposal.steps.empty()) {
    out << "# nothing has been changed: the same with --commit runs these commands\n";
  }
}

json document_of(const QuickstartProposal& proposal) {
  json steps = json::array();
  for (const QuickstartStep& step : proposal.steps)
    steps.push_back({{"command", command_of(step)}, {"words", step.words}, {"why", step.why}});
  return {{"there", proposal.there},     {"steps", steps},
          {"missing", proposal.missing}, {"notes", proposal.notes},
          {"mounts", proposal.mounts},   {"dry_run", true}};
}

// Waits until all heads of the step see all its LUNs. Errors: kBusy, naming one that does not.
Status wait_until_seen(Context& context, const QuickstartStep& step) {
  const auto deadline = Clock::now() + kSeenWithin;
  for (;;) {
    SYMNAS_ASSIGN(const json heads, rows_of(context, "heads"));
    std::string lacking;
    for (const json& head : heads) {
      const std::string name = head.value("name", "");
      if (std::find(step.heads.begin(), step.heads.end(), name) == step.heads.end()) continue;
      const json seen = head.value("luns", json::array());
      for (const std::string& lun : step.luns) {
        if (std::find(seen.begin(), seen.end(), lun) == seen.end())
          lacking = fmt::format("head {} does not see LUN {}", name, lun);
      }
    }
    if (lacking.empty()) return {};
    if (Clock::now() >= deadline) {
      return fail(ErrorCode::kBusy,
                  fmt::format("{}: is the device shared, and in lun_paths of vnfsd.toml there? "
                              "(symnas status on that head says more; symnas lun release gives a "
                              "device back that is this head's alone)",
                              lacking));
    }
    std::this_thread::sleep_for(kSeenPoll);
  }
}

Status run_step(Context& context, const QuickstartStep& step) {
  if (!step.luns.empty()) SYMNAS_TRY(wait_until_seen(context, step));
  return run_words(context, step.words);
}

Status carry_out(Context& context, const QuickstartProposal& proposal) {
  json document = document_of(proposal);
  document["dry_run"] = false;
  const std::size_t count = proposal.steps.size();
  const bool as_text = context.output == Output::kTable;
  for (std::size_t i = 0; i < count; ++i) {
    const QuickstartStep& step = proposal.steps[i];
    std::ostringstream said;
    if (as_text) context.out << fmt::format("[{}/{}] {}\n", i + 1, count, command_of(step));
    Context quiet{context.client, said};
    const Status done = run_step(quiet, step);
    if (as_text) context.out << said.str() << std::flush;
    if (!done) {
      return fail(done.error().code,
                  fmt::format("quickstart: step {} of {}: {}: {} [{} steps were done and stay; "
                              "mend this, and the same quickstart goes on with what is left]",
                              i + 1, count, command_of(step), done.error().message, i));
    }
    document["steps"][i]["said"] = said.str();
  }
  if (!as_text) {
    context.out << document.dump(2) << "\n";
    return {};
  }
  for (const std::string& note : proposal.notes) context.out << "note: " << note << "\n";
  context.out << (count == 0 ? "all of it is there already; " : "") << "on a Linux client:\n";
  for (const std::string& command : proposal.mounts) context.out << "  " << command << "\n";
  return {};
}

Status quickstart(Context& context, const Options& o) {
  SYMNAS_ASSIGN(const QuickstartSeen seen, look_around(context, o));
  SYMNAS_ASSIGN(const QuickstartProposal proposal, propose(seen, o.wish));
  if (o.commit && !proposal.missing.empty()) {
    std::string missing;
    for (const std::string& what : proposal.missing)
      missing += (missing.empty() ? "" : "; ") + what;
    return fail(ErrorCode::kInvalidArgument, "quickstart: missing: " + missing);
  }
  if (o.commit) return carry_out(context, proposal);
  if (context.output == Output::kJson) {
    context.out << document_of(proposal).dump(2) << "\n";
  } else {
    print(context.out, proposal);
  }
  return {};
}

}  // namespace

void add_quickstart(CommandLine& line) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = line.app.add_subcommand(
      "quickstart", "Propose what makes a filesystem served, or do it (--commit)");
  verb->add_option("PATH", o->paths, "Devices for the LUNs; none: blank ones of lun_paths");
  verb->add_option("--vip", o->wish.vips,
                   "Address with prefix length, as 10.0.0.101/24, of a VNFS (may be repeated)")
      ->allow_extra_args(false);
  verb->add_option("--network", o->wish.network, "Network of the VIPs and its device: nfs0=eth1");
  verb->add_option("--name", o->wish.name, "Name of the filesystem and its export")
      ->capture_default_str();
  verb->add_option("--volume", o->wish.volume, "Its volume, made unless it exists")
      ->capture_default_str();
  verb->add_option("--clients", o->wish.clients,
                   "Networks or hosts, separated by commas; else the networks of the VIPs")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--squash", o->wish.squash, "root, none or all")
      ->check(CLI::IsMember({"root", "none", "all"}))
      ->capture_default_str();
  CLI::Option* commit = verb->add_flag("--commit", o->commit, "Run the commands that are proposed");
  verb->add_flag("--dry-run", line.dry_run, "Only propose, as without --commit")->excludes(commit);
  verb->callback([&line, o] {
    o->wish.devices_named = !o->paths.empty();
    line.action = [o](Context& context) { return quickstart(context, *o); };
  });
}

}  // namespace symnas::vnfsd::ctl
