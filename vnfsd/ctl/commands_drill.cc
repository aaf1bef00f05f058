// symnas drill.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/env/clock.h"
#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/drill_report.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/pinger/pinger.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr int kMoveTimeoutS = 30;
constexpr auto kPoll = milliseconds(50);
constexpr auto kFirstAnswer = std::chrono::seconds(3);
constexpr auto kBetween = std::chrono::seconds(2);  // so that each pause is seen alone
constexpr auto kServedAgain = std::chrono::seconds(60);
constexpr auto kConnectedAgain = std::chrono::seconds(10);  // their heads look once a second
constexpr std::int64_t kMoveBudgetMs = 500;                 // docs/design.md 7
constexpr std::int64_t kKillBudgetMs = 2'500;               // as the crash of a head

struct DrillOptions {
  std::string name;
  std::string head;
  std::string report;
  std::int64_t budget_ms = 0;  // 0 = the kind's
  bool yes = false;
};

struct Before {
  std::string here;  // head that this runs on
  std::string owner;
  std::string target;  // of a move
  json vnfs;
  std::uint64_t last_epoch = 0;
};

tl::unexpected<Error> bad(const DrillOptions& o, ErrorCode code, const std::string& why) {
  return fail(code, fmt::format("drill of vnfs {}: {}", o.name, why));
}

Result<json> vnfs_of(Context& context, const DrillOptions& o) {
  SYMNAS_ASSIGN(const json listed, context.client.request("GET", "/v1/vnfs", {}));
  for (const json& vnfs : listed.value("vnfs", json::array())) {
    if (vnfs.value("name", "") == o.name) return vnfs;
  }
  return bad(o, ErrorCode::kNotFound, "it does not exist (symnas vnfs ls)");
}

Result<json> history_of(Context& context, const DrillOptions& o) {
  SYMNAS_ASSIGN(const json document,
                context.client.request("GET", fmt::format("/v1/vnfs/{}/history", o.name), {}));
  return document.value("history", json::array());
}

// The entries of the history after that epoch.
json newer(const json& history, std::uint64_t epoch) {
  json out = json::array();
  for (const json& entry : history) {
    if (entry.value("epoch", std::uint64_t{0}) > epoch) out.push_back(entry);
  }
  return out;
}

std::vector<std::string> clients_of(const json& vnfs) {
  return vnfs.value("clients", json::array()).get<std::vector<std::string>>();
}

// A head does not reach the VIPs of its own instances.
Status check_probe_sees(const DrillOptions& o, const Before& before) {
  if (before.here != before.owner && before.here != before.target) return {};
  return bad(
      o, ErrorCode::kInvalidArgument,
      fmt::format("{} cannot probe a VIP that it serves itself (run it on another head than "
                  "{}{}{})",
                  before.here, before.owner, before.target.empty() ? "" : " and ", before.target));
}

Result<Before> look(Context& context, const DrillOptions& o, const std::string& kind) {
  Before before;
  SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
  before.here = status.value("head", "");
  SYMNAS_ASSIGN(before.vnfs, vnfs_of(context, o));
  before.owner = before.vnfs.value("owner", "");
  if (before.owner.empty() || before.vnfs.contains("move"))
    return bad(o, ErrorCode::kBusy, "nobody serves it now, or it is being moved (symnas status)");
  if (kind == "move") {
    before.target = o.head;
    for (const json& head : before.vnfs.value("heads", json::array())) {
      const bool may = head != before.owner && head != before.here;
      if (before.target.empty() && may) before.target = head.get<std::string>();
    }
    if (before.target.empty())
      return bad(o, ErrorCode::kInvalidArgument, "there is no third head to move it to");
  }
  SYMNAS_TRY(check_probe_sees(o, before));
  SYMNAS_ASSIGN(const json history, history_of(context, o));
  for (const json& entry : history)
    before.last_epoch = std::max(before.last_epoch, entry.value("epoch", std::uint64_t{0}));
  return before;
}

Status wait_for_answer(const DrillOptions& o, const pinger::Pinger& probe, const std::string& vip) {
  const auto deadline = std::chrono::steady_clock::now() + kFirstAnswer;
  while (probe.seen().answers.count() == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return bad(o, ErrorCode::kUnavailable,
                 fmt::format("its VIP {} does not answer here (does this head have an address on "
                             "that network?); nothing was done",
                             vip));
    }
    std::this_thread::sleep_for(kPoll);
  }
  return {};
}

// There and back; as before it is pinned or not.
Status move_both_ways(Context& context, const DrillOptions& o, const Before& before) {
  SYMNAS_TRY(move_to(context, o.name, before.target, {{"head", before.target}}, kMoveTimeoutS));
  std::this_thread::sleep_for(kBetween);
  const bool pinned = before.vnfs.value("pinned", "") == before.owner;
  return move_to(context, o.name, before.owner, {{"head", before.owner}, {"pin", pinned}},
                 kMoveTimeoutS);
}

Status kill_and_wait(Context& context, const DrillOptions& o, const Before& before) {
  SYMNAS_TRY(
      context.client.request("POST", fmt::format("/v1/vnfs/{}/kill", o.name), json::object()));
  const auto deadline = std::chrono::steady_clock::now() + kServedAgain;
  for (;;) {
    SYMNAS_ASSIGN(const json history, history_of(context, o));
    if (!newer(history, before.last_epoch).empty()) return {};
    if (std::chrono::steady_clock::now() >= deadline)
      return bad(o, ErrorCode::kUnavailable, "it is not served again (symnas status)");
    std::this_thread::sleep_for(kPoll);
  }
}

// The clients of before that have not come back in time.
Result<std::vector<std::string>> not_back(Context& context, const DrillOptions& o,
                                          const std::vector<std::string>& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + kConnectedAgain;
  for (;;) {
    SYMNAS_ASSIGN(const json vnfs, vnfs_of(context, o));
    const std::vector<std::string> now = clients_of(vnfs);
    std::vector<std::string> missing;
    for (const std::string& one : wanted) {
      if (std::find(now.begin(), now.end(), one) == now.end()) missing.push_back(one);
    }
    if (missing.empty() || std::chrono::steady_clock::now() >= deadline) return missing;
    std::this_thread::sleep_for(kPoll);
  }
}

Status write_report(const std::string& path, const json& document) {
  if (path.empty()) return {};
  std::ofstream file(path);
  file << drill_text(document) << "\n" << document.dump(2) << "\n";
  file.close();
  if (file) return {};
  return fail(ErrorCode::kIo, fmt::format("drill: the report cannot be written to {}", path));
}

Status drill(Context& context, const std::string& kind, const DrillOptions& o) {
  SYMNAS_TRY(check_path_name(o.name));
  SYMNAS_ASSIGN(const Before before, look(context, o, kind));
  const std::vector<std::string> clients = clients_of(before.vnfs);
  if (kind == "kill" && !clients.empty() && !o.yes) {
    return bad(o, ErrorCode::kBusy,
               fmt::format("{} clients are connected; they wait until it is served again (--yes if "
                           "that is meant)",
                           clients.size()));
  }
  const std::string vip = before.vnfs["vips"].at(0).value("address", "");
  SYMNAS_ASSIGN(const IpAddress address, IpAddress::parse(vip));
  DrillFacts facts{.kind = kind, .vnfs = o.name, .heads = {before.owner}, .clients = clients};
  facts.budget_ms = o.budget_ms != 0 ? o.budget_ms : kind == "move" ? kMoveBudgetMs : kKillBudgetMs;
  const pinger::Pinger probe(address);
  SYMNAS_TRY(wait_for_answer(o, probe, vip));
  std::this_thread::sleep_for(kBetween);
  facts.began_ns = env::system_clock().wall_ns();
  const bool moves = kind == "move";
  SYMNAS_TRY(moves ? move_both_ways(context, o, before) : kill_and_wait(context, o, before));
  std::this_thread::sleep_for(kBetween);
  if (moves) facts.heads.push_back(before.target);
  SYMNAS_ASSIGN(const json after, vnfs_of(context, o));
  facts.heads.push_back(after.value("owner", ""));
  SYMNAS_ASSIGN(facts.not_back, not_back(context, o, clients));
  const pinger::Pinger::Seen seen = probe.seen();
  facts.answers = seen.answers.count();
  facts.connections = seen.connections;
  facts.longest = seen.answers.longest();
  facts.gaps = seen.answers.gaps();
  SYMNAS_ASSIGN(const json history, history_of(context, o));
  facts.history = newer(history, before.last_epoch);
  const json document = drill_document(facts);
  if (context.output == Output::kJson) {
    context.out << document.dump(2) << "\n";
  } else {
    context.out << drill_text(document);
  }
  if (!document.value("passed", false)) context.exit_code = kExitFailed;
  return write_report(o.report, document);
}

Status explain_crash(Context& context) {
  context.out
      << "A crash of a head is not made by this command: it would take every VNFS of that head.\n"
         "1. symnas vnfs status: its VNFSs have other heads, and those serve.\n"
         "2. symnas status: fencing is configured ([fence] agent, automatic) and nothing is "
         "fenced.\n"
         "3. On another head: symnas events --follow\n"
         "4. Cut the head's power, by its fence agent's device, while clients work.\n"
         "5. symnas vnfs history NAME --steps shows the failover and its pause; boot the head "
         "again.\n";
  return {};
}

}  // namespace

void add_drill(CommandLine& line) {
  CLI::App* noun =
      line.app.add_subcommand("drill", "Try a move or a crash, and measure what clients notice")
          ->require_subcommand(1);
  const auto add = [&](const std::string& kind, const char* what) {
    auto o = std::make_shared<DrillOptions>();
    CLI::App* verb = noun->add_subcommand(kind, what);
    verb->add_option("NAME", o->name, "Name of the VNFS")->required();
    if (kind == "move")
      verb->add_option("HEAD", o->head, "Where to; the next of its heads unless given");
    if (kind == "kill") verb->add_flag("--yes", o->yes, "Yes, its clients wait meanwhile");
    verb->add_option("--report", o->report, "File for the report, as text and JSON");
    verb->add_option("--budget-ms", o->budget_ms, "Longest gap that is good enough")
        ->check(CLI::PositiveNumber);
    verb->callback(
        [&line, o, kind] { line.action = [o, kind](Context& c) { return drill(c, kind, *o); }; });
  };
  add("move", "To another head and back, as vnfs rehost");
  add("kill", "Its instance is killed, as by a crash");
  noun->add_subcommand("crash", "How to try the crash of a head")->callback([&line] {
    line.action = explain_crash;
  });
}

}  // namespace symnas::vnfsd::ctl
