// symnas vnfs, symnas status.
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/names/byte_size.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr auto kStatusPoll = std::chrono::milliseconds(100);

std::string vips_text(const json& row) {
  std::string out;
  for (const json& vip : row.value("vips", json::array())) {
    out += fmt::format("{}{}/{}", out.empty() ? "" : ",", vip.value("address", ""),
                       vip.value("prefix_length", 0));
  }
  return out.empty() ? "-" : out;
}

std::string networks_text(const json& row) {
  std::string out;
  for (const json& vip : row.value("vips", json::array())) {
    const std::string network = vip.value("network", "");
    if (out.find(network) == std::string::npos) out += (out.empty() ? "" : ",") + network;
  }
  return out.empty() ? "-" : out;
}

Status change_and_wait(Context& context, const WaitOptions& o, const std::string& path,
                       const json& body, const std::string& wanted) {
  SYMNAS_TRY(context.change("POST", path, body));
  if (o.no_wait || context.mode == Mode::kDryRun) return {};
  return wait_for_state(context, o.name, wanted, o.timeout_s);
}

void add_state_verb(CommandLine& line, CLI::App* noun, const std::string& verb_name,
                    const std::string& wanted, const std::string& what) {
  auto o = std::make_shared<WaitOptions>();
  CLI::App* verb = add_change_verb(line, noun, verb_name, what);
  verb->add_option("NAME", o->name, "Name of the VNFS")->required();
  add_wait(verb, *o);
  verb->callback([&line, o, verb_name, wanted] {
    line.action = [o, verb_name, wanted](Context& context) {
      return change_and_wait(context, *o, "/v1/vnfs/" + o->name + "/" + verb_name, json::object(),
                             wanted);
    };
  });
}

std::string since_text(const json& row) {
  return local_time(row.value("instance", json::object()).value("since_ns", std::int64_t{0}));
}

Column of_instance(const std::string& title, const std::string& key) {
  return {title, [inner = plain(title, key)](const json& row) {
            return inner.text(row.value("instance", json::object()));
          }};
}

std::string fence_line(const json& head) {
  const json& fence = head["fence"];
  const std::string name = head.value("name", "");
  const std::string by = fence.value("by", "");
  const std::string state = fence.value("state", "");
  if (state == "done") {
    return fmt::format("head {}: fenced by {}: {} (its next boot serves again)", name, by,
                       fence.value("proof", ""));
  }
  if (state == "failed") {
    return fmt::format(
        "head {}: could not be fenced by {}: {} (its mounts have not ended, and what they hold is "
        "blocked: symnas head fence {} --yes tries again)",
        name, by, fence.value("error", ""), name);
  }
  return fmt::format(
      "head {}: is being fenced by {}; its mounts have not all ended (if that lasts: symnas head "
      "fence {} --yes goes on with it)",
      name, by, name);
}

std::string draining_line(const json& head) {
  const std::string name = head.value("name", "");
  return fmt::format("head {}: is being drained (symnas vnfs status; symnas head undrain {})", name,
                     name);
}

std::string stall_line(const json& stall) {
  const auto seconds = [&](const char* key) {
    return static_cast<double>(stall.value(key, std::int64_t{0})) / 1000;
  };
  std::string what;
  if (seconds("silent_ms") > 0) what = fmt::format("is silent for {:.1f} s", seconds("silent_ms"));
  if (seconds("waited_ms") > 0)
    what +=
        fmt::format("{}keeps others waiting for {:.1f} s ({} files or more are blocked)",
                    what.empty() ? "" : " and ", seconds("waited_ms"), stall.value("waiting", 0));
  return fmt::format("filesystem {}: VNFS {} on head {} {}: {}", stall.value("filesystem", "?"),
                     stall.value("vnfs", "?"), stall.value("head", "?"), what,
                     stall.value("next", ""));
}

// What corosync says, where that is not what this head hears.
std::vector<std::string> corosync_lines(const json& status) {
  const json& corosync = status["corosync"];
  if (const std::string error = corosync.value("error", ""); !error.empty())
    return {fmt::format("corosync: {}: it is no witness of silent heads now", error)};
  std::vector<std::string> lines;
  if (!corosync.value("quorate", false)) {
    lines.push_back("corosync: this head is in no majority: what it has lost does not count");
  }
  std::set<std::string> silent;
  for (const json& head : status.value("silent", json::array()))
    silent.insert(head.value("head", ""));
  for (const json& head : corosync.value("heads", json::array())) {
    const std::string name = head.value("head", "");
    const std::string state = head.value("state", "");
    if (state == "member" && silent.contains(name)) {
      lines.push_back(fmt::format("head {}: corosync still has it as a member", name));
    } else if (state == "lost" && silent.contains(name)) {
      lines.push_back(fmt::format("head {}: corosync has lost it, too", name));
    } else if (state != "member" && !silent.contains(name)) {
      lines.push_back(
          fmt::format("head {}: is no member of corosync, and nobody misses it here", name));
    }
  }
  for (const auto& name : corosync.value("no_node", std::vector<std::string>())) {
    lines.push_back(fmt::format(
        "head {}: corosync has no such node (its name, or one of its addresses)", name));
  }
  for (const auto& name : corosync.value("strangers", std::vector<std::string>()))
    lines.push_back(fmt::format("corosync: {} is no head of this cluster", name));
  return lines;
}

// What is to be said of an instance that no column has.
void print_instance(std::ostream& out, const json& vnfs) {
  const json instance = vnfs.value("instance", json::object());
  const std::string head = instance.value("head", "");
  if (const auto heard_ns = instance.value("heard_ns", std::int64_t{0}); heard_ns != 0) {
    out << fmt::format("\nvnfs {}: head {} is not heard since {}: it was {} then\n",
                       vnfs.value("name", "?"), head, local_time(heard_ns),
                       instance.value("state", "?"));
  }
  const std::string error = instance.value("error", "");
  if (!error.empty())
    out << "\n" << (head.empty() ? "" : fmt::format("on head {}: ", head)) << error << "\n";
}

void print_status(std::ostream& out, const json& status, Paint paint) {
  const json cluster = status.value("cluster", json::object());
  out << fmt::format("cluster {}  head {}  configuration {}\n", cluster.value("name", "?"),
                     status.value("head", "?"), cluster.value("config_version", 0));
  const int allowed = cluster.value("level", 0);
  if (const int possible = cluster.value("level_possible", 0); possible > allowed) {
    out << fmt::format("level {}: all heads could have level {} (symnas cluster raise-level)\n",
                       allowed, possible);
  }
  if (const std::string decider = cluster.value("decider", "builtin"); decider != "builtin")
    out << fmt::format("{} decides where VNFSs run\n", decider);
  out << "\n";
  const Column reachable = {"STATE",
                            [](const json& row) -> std::string {
                              if (!row.value("reachable", false)) return "unreachable";
                              if (row.value("no_space", false)) return "full";
                              return row.value("leader", false) ? "leader" : "member";
                            },
                            true};
  out << render_table({plain("ETCD", "endpoint"), reachable, size("DB", "db_size_bytes"),
                       plain("REVISION", "revision"), plain("ERROR", "error")},
                      status.value("etcd", json::array()), paint);
  const json quota = status.value("quota", json::object());
  if (const std::string level = quota.value("level", "free"); level != "free") {
    out << fmt::format(
        "\netcd: {} % of its quota of {} are in use, level {}: {} (delete files, or raise "
        "etcd.quota_bytes)\n",
        quota.value("in_use_permille", std::int64_t{0}) / 10,
        format_byte_size(quota.value("quota_bytes", std::uint64_t{0})), level,
        level == "reserve" ? "nothing new is created" : "only removals are done");
  }
  out << "\n"
      << render_table({plain("LUN", "name"), plain("DEVICE", "path"), plain("ERROR", "error")},
                      status.value("luns", json::array()));
  const std::string unregistered = status.value("reservations", json::object()).value("error", "");
  if (!unregistered.empty())
    out << "\n"
        << "reservations: " << unregistered << "\n";
  const std::string no_agent = status.value("fence_agent", json::object()).value("error", "");
  if (!no_agent.empty()) out << "\n" << no_agent << "\n";
  const std::string no_failover = status.value("failover", json::object()).value("error", "");
  if (!no_failover.empty() && status.value("heads", json::array()).size() > 1)
    out << "\n"
        << "failover: the VNFSs of a head that dies stay down as far as this head is concerned: "
        << no_failover << "\n";
  out << "\n"
      << render_table(
             {plain("NETWORK", "name"), plain("DEVICE", "device"), plain("ERROR", "error")},
             status.value("networks", json::array()));
  out << "\n"
      << render_table({plain("VNFS", "name"), state("STATE", "state"), plain("OWNER", "owner"),
                       Column{"VIPS", vips_text}, of_instance("PID", "pid"),
                       plain("EPOCH", "epoch"), Column{"SINCE", since_text},
                       of_instance("RESTARTS", "restarts"), of_instance("LAST EXIT", "last_exit")},
                      status.value("vnfs", json::array()), paint);
  for (const json& head : status.value("heads", json::array())) {
    if (head.contains("fence")) out << "\n" << fence_line(head) << "\n";
    if (head.value("draining", false)) out << "\n" << draining_line(head) << "\n";
  }
  for (const json& head : status.value("silent", json::array())) {
    out << fmt::format("\nhead {}: is not heard by this head: {}\n", head.value("head", "?"),
                       head.value("why", "?"));
  }
  if (status.contains("corosync")) {
    for (const std::string& line : corosync_lines(status)) out << "\n" << line << "\n";
  }
  for (const json& clock : status.value("clocks", json::array())) {
    const auto ahead_ms = clock.value("ahead_ms", std::int64_t{0});
    if (!clock.value("off", false)) continue;
    out << fmt::format(
        "\nhead {}: its clock is {:.1f} s {} the others', which times of files go by (mend its "
        "time "
        "synchronisation)\n",
        clock.value("head", "?"), static_cast<double>(std::abs(ahead_ms)) / 1000,
        ahead_ms > 0 ? "ahead of" : "behind");
  }
  for (const json& one : status.value("certificates", json::array())) {
    out << fmt::format("\n{} ends {} ({})\n", one.value("what", "?"),
                       local_time(one.value("ends_ns", std::int64_t{0})), one.value("path", "?"));
  }
  for (const json& stall : status.value("stalls", json::array()))
    out << "\n" << stall_line(stall) << "\n";
  for (const json& vnfs : status.value("vnfs", json::array())) print_instance(out, vnfs);
}

Status show_status(Context& context) {
  SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
  if (context.output == Output::kJson) {
    context.out << status.dump(2) << "\n";
  } else {
    print_status(context.out, status, context.paint);
  }
  if (!status.contains("error")) return {};
  return fail(ErrorCode::kUnavailable, status["error"].get<std::string>());
}

}  // namespace

Status wait_for_state(Context& context, const std::string& name, const std::string& wanted,
                      int timeout_s) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  for (;;) {
    SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
    const json vnfs = row_of(status.value("vnfs", json::array()), name);
    const std::string state = vnfs.value("state", "");
    if (state == wanted) return {};
    // By a head of an earlier version, which does not tell the others more.
    if (wanted == "serving" && !vnfs.contains("instance") && state == "owned") return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      const json instance = vnfs.value("instance", json::object());
      return fail(ErrorCode::kUnavailable,
                  fmt::format("vnfs {}: is {} after {} s, not {}: {} (look at symnas status and at "
                              "the logs of vnfsd and of the VNFS)",
                              name, state, timeout_s, wanted,
                              instance.value("error", "no reason is known on this head")));
    }
    std::this_thread::sleep_for(kStatusPoll);
  }
}

void add_wait(CLI::App* verb, WaitOptions& o) {
  verb->add_option("--timeout", o.timeout_s, "Seconds to wait for the new state")
      ->capture_default_str();
  verb->add_flag("--no-wait", o.no_wait, "Only record the change");
}

namespace {

void add_vnfs_remove(CommandLine& line, CLI::App* noun) {
  struct Options {
    std::string name;
    bool yes = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "rm", "Remove a stopped VNFS");
  verb->add_option("NAME", o->name, "Name")->required();
  verb->add_flag("--yes", o->yes, "Also one whose clients still have it mounted, with their locks");
  verb->callback([&line, o] {
    line.action = [o](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(o->name));
      return context.change("DELETE", "/v1/vnfs/" + o->name, {}, o->yes ? "yes=true" : "");
    };
  });
}

}  // namespace

void add_vnfs(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("vnfs", "Virtual NFS servers")->require_subcommand(1);
  struct Options {
    std::vector<std::string> vips, networks, exports, heads;
    std::string failback = "manual";
    WaitOptions wait;
  };
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "create", "Make a VNFS and start it");
  verb->add_option("NAME", o->wait.name, "Name of the VNFS")->required();
  const auto add_list = [&](const char* option, std::vector<std::string>& into, const char* what) {
    verb->add_option(option, into, what)->required()->delimiter(',')->allow_extra_args(false);
  };
  add_list("--vip", o->vips, "Address with prefix length, as 10.0.0.101/24; 1 to 4");
  add_list("--network", o->networks, "Network of all VIPs, or one for each");
  add_list("--exports", o->exports, "Exports, separated by commas");
  add_list("--heads", o->heads, "Heads, primary first, separated by commas");
  add_failback(verb, o->failback)->capture_default_str();
  add_wait(verb, o->wait);
  verb->callback([&line, o] {
    line.action = [o](Context& context) {
      return change_and_wait(context, o->wait, "/v1/vnfs",
                             {{"name", o->wait.name},
                              {"vips", o->vips},
                              {"networks", o->networks},
                              {"exports", o->exports},
                              {"heads", o->heads},
                              {"failback", o->failback}},
                             "serving");
    };
  });
  add_state_verb(line, noun, "start", "serving", "Start a stopped VNFS");
  add_state_verb(line, noun, "stop", "stopped",
                 "Stop a VNFS; its clients hang until it is started");
  noun->add_subcommand("ls", "List them")->callback([&line] {
    line.action = [](Context& context) {
      return context.list("vnfs", {plain("NAME", "name"), plain("WANTED", "wanted"),
                                   plain("OWNER", "owner"), plain("VERSION", "version"),
                                   Column{"VIPS", vips_text}, Column{"NETWORKS", networks_text},
                                   plain("EXPORTS", "exports"), plain("HEADS", "heads")});
    };
  });
  add_vnfs_remove(line, noun);
  add_vnfs_sets(line, noun);
  add_vnfs_restart(line, noun);
  add_vnfs_keytab(line, noun);
  add_vnfs_moves(line, noun);
  add_vnfs_places(line, noun);
}

void add_status(CommandLine& line) {
  line.app.add_subcommand("status", "What the cluster and this head do")->callback([&line] {
    line.action = show_status;
  });
}

}  // namespace symnas::vnfsd::ctl
