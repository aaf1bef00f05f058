// symnas vnfs rehost, vnfs history.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr auto kMovePoll = std::chrono::milliseconds(50);

struct RehostOptions {
  std::string name;
  std::string head;
  int timeout_s = 10;
};

// Errors: kNotFound.
Result<json> vnfs_entry(Context& context, const std::string& name) {
  SYMNAS_ASSIGN(const json listed, context.client.request("GET", "/v1/vnfs", {}));
  for (const json& vnfs : listed.value("vnfs", json::array())) {
    if (vnfs.value("name", "") == name) return vnfs;
  }
  return fail(ErrorCode::kNotFound, fmt::format("vnfs {}: was removed meanwhile", name));
}

// The order is gone: its head serves, or the order was overtaken by a failure.
Status report_end(const RehostOptions& o, const std::string& owner) {
  if (owner == o.head) return {};
  return fail(
      ErrorCode::kConflict,
      fmt::format("vnfs {}: {} serves it, not {} (that head was lost on the way, or another "
                  "order came: symnas status)",
                  o.name, owner.empty() ? "nobody" : owner, o.head));
}

// An order that its head has not answered is taken back: nothing has happened.
Status give_up(Context& context, const RehostOptions& o) {
  const auto stays =
      context.client.request("POST", fmt::format("/v1/vnfs/{}/stay", o.name), json::object());
  const std::string seen =
      stays ? fmt::format("{} has not answered, the VNFS stays where it is", o.head)
            : stays.error().message;
  return fail(ErrorCode::kUnavailable, fmt::format("vnfs {}: not moved to {} after {} s: {}",
                                                   o.name, o.head, o.timeout_s, seen));
}

Status rehost(Context& context, const RehostOptions& o) {
  SYMNAS_TRY(context.change("POST", fmt::format("/v1/vnfs/{}/rehost", o.name), {{"head", o.head}}));
  if (context.mode == Mode::kDryRun) return {};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(o.timeout_s);
  for (;;) {
    SYMNAS_ASSIGN(const json vnfs, vnfs_entry(context, o.name));
    if (!vnfs.contains("move")) return report_end(o, vnfs.value("owner", ""));
    if (std::chrono::steady_clock::now() >= deadline) return give_up(context, o);
    std::this_thread::sleep_for(kMovePoll);
  }
}

std::string seconds_text(const json& row, const char* key) {
  return row.contains(key) ? fmt::format("{:.3f}", row.value(key, 0.0) / 1000) : "-";
}

std::string steps_text(const json& entry) {
  const std::int64_t began_ns = entry.value("began_ns", std::int64_t{0});
  std::string out;
  for (const json& step : entry.value("steps", json::array())) {
    const std::int64_t ns = step.value("at_ns", std::int64_t{0}) - began_ns;
    out += fmt::format("  {:>8.3f} s  {}\n", static_cast<double>(ns) / 1e9, step.value("name", ""));
  }
  const auto kept = entry.value("kept", std::uint64_t{0});
  if (kept != 0) out += fmt::format("  {} requests were left to the next instance\n", kept);
  const std::string error = entry.value("error", "");
  if (!error.empty()) out += fmt::format("  {}\n", error);
  return out;
}

Status history(Context& context, const std::string& name, bool steps) {
  SYMNAS_ASSIGN(const json document,
                context.client.request("GET", fmt::format("/v1/vnfs/{}/history", name), {}));
  const std::vector<Column> columns = {
      {"WHEN", [](const json& row) { return local_time(row.value("began_ns", std::int64_t{0})); }},
      plain("CAUSE", "cause"),
      plain("FROM", "from"),
      plain("TO", "to"),
      plain("EPOCH", "epoch"),
      {"BLACKOUT S", [](const json& row) { return seconds_text(row, "blackout_ms"); }}};
  if (!steps || context.output == Output::kJson) {
    return context.print(document, "history", columns);
  }
  for (const json& entry : document.value("history", json::array())) {
    context.out << render_table(columns, json::array({entry})) << steps_text(entry);
  }
  return {};
}

}  // namespace

void add_vnfs_moves(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<RehostOptions>();
  CLI::App* verb = add_change_verb(line, noun, "rehost",
                                   "Move a VNFS to another of its heads; its clients go on");
  verb->add_option("NAME", o->name, "Name of the VNFS")->required();
  verb->add_option("HEAD", o->head, "Head that is to serve it")->required();
  verb->add_option("--timeout", o->timeout_s, "Seconds to wait until it is served there")
      ->capture_default_str();
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return rehost(context, *o); }; });

  auto named = std::make_shared<std::string>();
  auto steps = std::make_shared<bool>(false);
  CLI::App* past = noun->add_subcommand(
      "history", "How a VNFS came to be served where: moves, failovers, restarts");
  past->add_option("NAME", *named, "Name of the VNFS")->required();
  past->add_flag("--steps", *steps, "What was done when");
  past->callback([&line, named, steps] {
    line.action = [named, steps](Context& context) { return history(context, *named, *steps); };
  });
}

}  // namespace symnas::vnfsd::ctl
