// symnas vnfs rehost, failback, distribute, history.
#include <chrono>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr auto kMovePoll = std::chrono::milliseconds(50);

struct MoveOptions {
  std::string name;
  std::string head;
  bool all = false;
  int timeout_s = 15;
};

std::string path_of(const std::string& vnfs, const std::string& action) {
  return fmt::format("/v1/vnfs/{}/{}", vnfs, action);
}

// Errors: kNotFound.
Result<json> vnfs_entry(Context& context, const std::string& name) {
  SYMNAS_ASSIGN(const json vnfses, rows_of(context, "vnfs"));
  json vnfs = row_of(vnfses, name);
  if (!vnfs.is_null()) return vnfs;
  return fail(ErrorCode::kNotFound, fmt::format("vnfs {}: was removed meanwhile", name));
}

// The order is gone: its head serves, or the order was overtaken by a failure.
Status report_end(const std::string& name, const std::string& head, const std::string& owner) {
  if (owner == head) return {};
  return fail(
      ErrorCode::kConflict,
      fmt::format("vnfs {}: {} serves it, not {} (that head was lost on the way, or another "
                  "order came: symnas status)",
                  name, owner.empty() ? "nobody" : owner, head));
}

// An order that its head has not answered is taken back: nothing has happened.
Status give_up(Context& context, const MoveOptions& o, const json& move) {
  const std::string head = move.value("to", "?");
  const std::string refusal = move.value("refusal", "");
  const auto stays = context.client.request("POST", path_of(o.name, "stay"), json::object());
  const std::string why =
      refusal.empty() ? head + " has not answered" : fmt::format("{} says: {}", head, refusal);
  const std::string seen = stays ? why + ", the VNFS stays where it is" : stays.error().message;
  return fail(ErrorCode::kUnavailable, fmt::format("vnfs {}: not moved to {} after {} s: {}",
                                                   o.name, head, o.timeout_s, seen));
}

// Waits until nothing of the VNFS is on its way any more. Errors: kUnavailable (the order was taken
// back), kConflict.
Status wait_for_move(Context& context, const MoveOptions& o) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(o.timeout_s);
  std::string head = o.head;
  for (;;) {
    SYMNAS_ASSIGN(const json vnfs, vnfs_entry(context, o.name));
    const std::string owner = vnfs.value("owner", "");
    if (!vnfs.contains("move")) return head.empty() ? Status() : report_end(o.name, head, owner);
    if (o.head.empty()) head = vnfs["move"].value("to", "");
    if (std::chrono::steady_clock::now() >= deadline) return give_up(context, o, vnfs["move"]);
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

Status rehost(Context& context, const MoveOptions& o) {
  SYMNAS_TRY(check_path_name(o.name));
  SYMNAS_TRY(context.change("POST", path_of(o.name, "rehost"), {{"head", o.head}}));
  if (context.mode == Mode::kDryRun) return {};
  return wait_for_move(context, o);
}

// One order of a series.
struct Order {
  MoveOptions move;  // head: "" = as vnfsd finds it
  std::string action;
  json body;
};

// One move at a time, so that the clients of one VNFS at most wait; goes on after one that fails.
Status move_in_turn(Context& context, const std::vector<Order>& orders) {
  const std::string query = context.mode == Mode::kDryRun ? "?dry_run=true" : "";
  json lines = json::array();
  Status first;
  std::size_t failed = 0;
  for (const Order& order : orders) {
    const auto done =
        context.client.request("POST", path_of(order.move.name, order.action) + query, order.body);
    Status moved = done ? Status() : tl::unexpected<Error>(done.error());
    if (done) lines.insert(lines.end(), (*done)["done"].begin(), (*done)["done"].end());
    if (moved && context.mode == Mode::kCommit) moved = wait_for_move(context, order.move);
    if (moved) continue;
    ++failed;
    if (first) first = moved;
  }
  context.print_done(json{{"done", lines}});
  if (!first) first.error().message += fmt::format(" [{} of {} VNFSs]", failed, orders.size());
  return first;
}

Status fail_back(Context& context, const MoveOptions& o) {
  if (o.all != o.name.empty()) {
    return fail(ErrorCode::kInvalidArgument, "vnfs failback: give a name or --all");
  }
  if (!o.all) {
    SYMNAS_TRY(check_path_name(o.name));
    return move_in_turn(context, {{o, "failback", json::object()}});
  }
  SYMNAS_ASSIGN(const json listed, context.client.request("GET", "/v1/vnfs", {}));
  std::vector<Order> orders;
  for (const json& vnfs : listed.value("vnfs", json::array())) {
    if (vnfs.value("wanted", "") == "stopped") continue;
    MoveOptions one = o;
    one.name = vnfs.value("name", "");
    orders.push_back({one, "failback", json::object()});
  }
  return move_in_turn(context, orders);
}

Status distribute(Context& context, const MoveOptions& o) {
  SYMNAS_ASSIGN(const json planned, context.client.request("GET", "/v1/distribution", {}));
  std::vector<Order> orders;
  for (const json& move : planned.value("moves", json::array())) {
    MoveOptions one = o;
    one.name = move.value("vnfs", "");
    one.head = move.value("to", "");
    orders.push_back({one, "rehost", {{"head", one.head}, {"pin", false}}});
  }
  if (orders.empty()) {
    context.print_done(std::string("vnfs: every one is on the best of its heads"));
    return {};
  }
  return move_in_turn(context, orders);
}

void add_timeout(CLI::App* verb, MoveOptions& o) {
  verb->add_option("--timeout", o.timeout_s, "Seconds to wait until one is served there")
      ->capture_default_str();
}

}  // namespace

Status move_to(Context& context, const std::string& name, const std::string& head, const json& body,
               int timeout_s) {
  MoveOptions o;
  o.name = name;
  o.head = head;
  o.timeout_s = timeout_s;
  SYMNAS_TRY(context.client.request("POST", path_of(name, "rehost"), body));
  return wait_for_move(context, o);
}

void add_vnfs_moves(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<MoveOptions>();
  CLI::App* verb = add_change_verb(line, noun, "rehost",
                                   "Move a VNFS to another of its heads; its clients go on");
  verb->add_option("NAME", o->name, "Name of the VNFS")->required();
  verb->add_option("HEAD", o->head, "Head that is to serve it")->required();
  add_timeout(verb, *o);
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

  auto back = std::make_shared<MoveOptions>();
  verb = add_change_verb(line, noun, "failback",
                         "Move a VNFS to the first of its heads that can serve it now");
  verb->add_option("NAME", back->name, "Name of the VNFS");
  verb->add_flag("--all", back->all, "Every VNFS, one after the other");
  add_timeout(verb, *back);
  verb->callback([&line, back] {
    line.action = [back](Context& context) { return fail_back(context, *back); };
  });

  auto all = std::make_shared<MoveOptions>();
  verb = add_change_verb(line, noun, "distribute",
                         "Move every VNFS to the best of its heads, none above its share");
  add_timeout(verb, *all);
  verb->callback([&line, all] {
    line.action = [all](Context& context) { return distribute(context, *all); };
  });
}

}  // namespace symnas::vnfsd::ctl
