// symnas events.
#include <chrono>
#include <cstdint>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr auto kFollowAgain = std::chrono::milliseconds(500);
constexpr std::size_t kKindWidth = 14;  // of the longest kind

struct EventOptions {
  std::string vnfs;
  std::int64_t after = 0;
  bool follow = false;
};

bool is_wanted(const json& event, const EventOptions& o) {
  return o.vnfs.empty() || event.value("vnfs", "") == o.vnfs;
}

// A line each, so that a follower's output has one form.
void print_event(Context& context, const json& event) {
  if (context.output == Output::kJson) {
    context.out << event.dump() << "\n";
    return;
  }
  context.out << fmt::format("{}  {:<{}}  {}\n", local_time(event.value("at_ns", std::int64_t{0})),
                             event.value("kind", "?"), kKindWidth, event.value("text", ""));
}

void print_lost(Context& context, const json& heads) {
  for (const json& head : heads) {
    const json lost = {{"kind", "events-lost"},
                       {"text", fmt::format("head {}: older events may be missing here, it keeps "
                                            "its last ones only",
                                            head.get<std::string>())}};
    print_event(context, lost);
  }
}

// Prints what came after `o.after` and moves it on. Errors: as ApiClient::request().
Status show_next(Context& context, EventOptions& o) {
  SYMNAS_ASSIGN(const json page,
                context.client.request("GET", fmt::format("/v1/events?after={}", o.after), {}));
  print_lost(context, page.value("lost", json::array()));
  for (const json& event : page.value("events", json::array())) {
    if (is_wanted(event, o)) print_event(context, event);
  }
  o.after = page.value("revision", o.after);
  context.out.flush();
  return {};
}

// vnfsd may be started anew, and etcd be away, meanwhile: nothing is missed by that.
Status follow(Context& context, EventOptions o) {
  SYMNAS_TRY(show_next(context, o));
  while (o.follow && context.out.good()) {
    // It ends with vnfsd, and when a reader is too slow.
    (void)context.client.follow(fmt::format("/v1/events/stream?after={}", o.after),
                                [&](const api::ServerEvent& event) {
                                  const json document = json::parse(event.data, nullptr, false);
                                  if (!document.is_object()) return false;
                                  if (event.name == "lost") {
                                    print_lost(context, document.value("heads", json::array()));
                                  } else if (is_wanted(document, o)) {
                                    print_event(context, document);
                                  }
                                  if (!event.id.empty())
                                    o.after = document.value("revision", o.after);
                                  context.out.flush();
                                  return context.out.good();
                                });
    if (context.out.good()) std::this_thread::sleep_for(kFollowAgain);
  }
  return {};
}

}  // namespace

void add_events(CommandLine& line) {
  auto o = std::make_shared<EventOptions>();
  CLI::App* verb = line.app.add_subcommand("events", "What has happened in the cluster");
  verb->add_flag("--follow", o->follow, "Go on with what happens, until it is interrupted");
  verb->add_option("--vnfs", o->vnfs, "Of this VNFS only");
  verb->add_option("--after", o->after, "Only what came after this revision (-o json shows it)")
      ->check(CLI::NonNegativeNumber);
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return follow(context, *o); }; });
}

}  // namespace symnas::vnfsd::ctl
