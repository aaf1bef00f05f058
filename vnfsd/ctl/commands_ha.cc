// symnas ha: who decides where VNFSs run, and what a decider orders.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto kStandingPoll = std::chrono::milliseconds(50);
// An order is given again: what the decider waits for may be the fence of a head that was heard
// until a moment ago.
constexpr auto kOrderAgain = std::chrono::milliseconds(500);

struct OrderOptions {
  std::string vnfs;
  std::string head;
  std::string by;
  int timeout_s = 60;
};

// This one, if none is named.
Result<std::string> head_of(Context& context, const std::string& named) {
  if (!named.empty()) return named;
  SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
  return status.value("head", "");
}

Result<json> standing_of(Context& context, const OrderOptions& o) {
  return context.client.request("GET", fmt::format("/v1/vnfs/{}/standing/{}", o.vnfs, o.head), {});
}

// What may be otherwise in a moment: vnfsd or etcd has just started, another order is under way.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::kBusy || error.code == ErrorCode::kUnavailable ||
         error.code == ErrorCode::kConflict || error.code == ErrorCode::kUnknownOutcome;
}

// Gives the order until the VNFS stands as wanted. What may pass is waited for until the time is
// over.
Status order(Context& context, OrderOptions o, const std::string& action,
             const std::vector<std::string>& wanted) {
  SYMNAS_TRY(check_path_name(o.vnfs));
  SYMNAS_ASSIGN(o.head, head_of(context, o.head));
  SYMNAS_TRY(check_path_name(o.head));
  const std::string path = fmt::format("/v1/vnfs/{}/{}", o.vnfs, action);
  const json body = {{"decider", o.by}, {"head", o.head}};
  if (context.mode == Mode::kDryRun) return context.change("POST", path, body);
  const auto deadline = Clock::now() + std::chrono::seconds(o.timeout_s);
  auto again = Clock::now();
  Result<json> told = json();
  for (bool is_said = false;;) {
    if (Clock::now() >= again) {
      told = context.client.request("POST", path, body);
      if (!told && !may_pass(told.error())) return tl::unexpected<Error>(told.error());
      if (told && !std::exchange(is_said, true)) context.print_done(*told);
      again = Clock::now() + kOrderAgain;
    }
    const auto seen = standing_of(context, o);
    if (!seen && !may_pass(seen.error())) return tl::unexpected<Error>(seen.error());
    const std::string standing = seen ? seen->value("standing", "") : "";
    if (std::ranges::find(wanted, standing) != wanted.end()) return {};
    if (Clock::now() >= deadline) {
      if (!told) return tl::unexpected<Error>(told.error());
      if (!seen) return tl::unexpected<Error>(seen.error());
      return fail(
          ErrorCode::kUnavailable,
          fmt::format("vnfs {}: {} on {} after {} s: {} (symnas vnfs why {} {})", o.vnfs, standing,
                      o.head, o.timeout_s, seen->value("why", ""), o.vnfs, o.head));
    }
    std::this_thread::sleep_for(kStandingPoll);
  }
}

Status show_standing(Context& context, OrderOptions o) {
  SYMNAS_TRY(check_path_name(o.vnfs));
  SYMNAS_ASSIGN(o.head, head_of(context, o.head));
  SYMNAS_TRY(check_path_name(o.head));
  SYMNAS_ASSIGN(const json seen, standing_of(context, o));
  if (context.output == Output::kJson) {
    context.out << seen.dump(2) << "\n";
    return {};
  }
  const std::string why = seen.value("why", "");
  context.out << seen.value("standing", "?") << (why.empty() ? "" : ": " + why) << "\n";
  return {};
}

Status decider(Context& context, const std::string& wanted) {
  if (!wanted.empty()) return context.change("POST", "/v1/decider", {{"decider", wanted}});
  SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
  const std::string now = status.value("cluster", json::object()).value("decider", "?");
  if (context.output == Output::kJson) {
    context.out << json{{"decider", now}}.dump(2) << "\n";
  } else {
    context.out << now << "\n";
  }
  return {};
}

void add_target(CLI::App* verb, OrderOptions& o) {
  verb->add_option("VNFS", o.vnfs, "Name of the VNFS")->required();
  verb->add_option("--head", o.head, "Name of the head; without it: this one");
}

void add_order(CommandLine& line, CLI::App* noun, const std::string& action,
               const std::string& what, const std::vector<std::string>& wanted) {
  auto o = std::make_shared<OrderOptions>();
  CLI::App* verb = add_change_verb(line, noun, action, what);
  add_target(verb, *o);
  verb->add_option("--by", o->by, "The decider that orders it: pacemaker or keepalived")
      ->required();
  verb->add_option("--timeout", o->timeout_s, "Seconds to wait until it is so")
      ->capture_default_str();
  verb->callback([&line, o, action, wanted] {
    line.action = [o, action, wanted](Context& context) {
      return order(context, *o, action, wanted);
    };
  });
}

}  // namespace

void add_ha(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("ha", "Who decides where VNFSs run");
  noun->require_subcommand(1);

  auto wanted = std::make_shared<std::string>();
  CLI::App* verb = add_change_verb(line, noun, "decider", "Show the decider, or make it another");
  verb->add_option("NAME", *wanted, "builtin, pacemaker or keepalived; without it: shows which");
  verb->callback([&line, wanted] {
    line.action = [wanted](Context& context) { return decider(context, *wanted); };
  });

  add_order(line, noun, "take", "For deciders: a head is to serve the VNFS; waits until it does",
            {"serving"});
  add_order(line, noun, "leave",
            "For deciders: a head is to serve the VNFS no more; waits until it does not",
            {"stopped"});

  auto o = std::make_shared<OrderOptions>();
  verb = noun->add_subcommand("standing",
                              "How a VNFS stands with a head: serving, moving, sick "
                              "or stopped");
  add_target(verb, *o);
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return show_standing(context, *o); }; });

  add_ha_keepalived(line, noun);
  add_ha_pacemaker(line, noun);
}

}  // namespace symnas::vnfsd::ctl
