// symnas audit.
#include <chrono>
#include <cstdint>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands_access.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr auto kFollowPoll = std::chrono::milliseconds(500);

struct AuditOptions {
  std::int64_t after = 0;
  bool follow = false;
};

// "ops from 10.1.2.3", "root on c1n1 (login uid 1000)".
std::string who_text(const json& entry) {
  const std::string from = entry.value("from", "");
  const std::string uid = entry.value("login_uid", "");
  std::string text = entry.value("who", "?");
  text += from.empty() ? " on " + entry.value("head", "?") : " from " + from;
  if (!uid.empty()) text += fmt::format(" (login uid {})", uid);
  return text;
}

void print_entry(Context& context, const json& entry) {
  if (context.output == Output::kJson) {
    context.out << entry.dump() << "\n";
    return;
  }
  context.out << fmt::format(
      "{}  {}  {} {}  {}{}\n", local_time(entry.value("at_ns", std::int64_t{0})), who_text(entry),
      entry.value("method", "?"), entry.value("path", "?"), entry.value("outcome", "?"),
      entry.value("text", "").empty() ? "" : ": " + entry.value("text", ""));
}

Status show_next(Context& context, AuditOptions& o) {
  SYMNAS_ASSIGN(const json page,
                context.client.request("GET", fmt::format("/v1/audit?after={}", o.after), {}));
  for (const json& entry : page.value("entries", json::array())) print_entry(context, entry);
  o.after = page.value("revision", o.after);
  context.out.flush();
  return {};
}

// vnfsd may be started anew, and etcd be away, meanwhile: nothing is missed by that.
Status follow(Context& context, AuditOptions o) {
  SYMNAS_TRY(show_next(context, o));
  while (o.follow && context.out.good()) {
    std::this_thread::sleep_for(kFollowPoll);
    (void)show_next(context, o);
  }
  return {};
}

}  // namespace

void add_audit(CommandLine& line) {
  auto o = std::make_shared<AuditOptions>();
  CLI::App* verb =
      line.app.add_subcommand("audit", "Who changed what, on every head, and who was refused");
  verb->add_flag("--follow", o->follow, "Go on with what happens, until it is interrupted");
  verb->add_option("--after", o->after, "Only what came after this revision (-o json shows it)")
      ->check(CLI::NonNegativeNumber);
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return follow(context, *o); }; });
}

}  // namespace symnas::vnfsd::ctl
