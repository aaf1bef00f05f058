// symnas vnfs restart, head upgrade, cluster raise-level: a new version comes into service.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr auto kRestartPoll = std::chrono::milliseconds(100);

struct UpgradeOptions {
  std::string head;
  bool in_place = false;
  int timeout_s = 60;
};

// Waits until another instance than that of `epoch` serves the VNFS. Errors: kUnavailable.
Status wait_for_next(Context& context, const std::string& vnfs, std::uint64_t epoch,
                     int timeout_s) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  for (;;) {
    SYMNAS_ASSIGN(const json document,
                  context.client.request("GET", fmt::format("/v1/vnfs/{}/history", vnfs), {}));
    for (const json& entry : document.value("history", json::array())) {
      if (entry.value("epoch", std::uint64_t{0}) > epoch) return {};
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("vnfs {}: no other instance serves after {} s (symnas status on its "
                              "head says why)",
                              vnfs, timeout_s));
    }
    std::this_thread::sleep_for(kRestartPoll);
  }
}

Status restart(Context& context, const std::string& name, int timeout_s) {
  SYMNAS_TRY(check_path_name(name));
  SYMNAS_ASSIGN(const json vnfses, rows_of(context, "vnfs"));
  const auto epoch = row_of(vnfses, name).value("epoch", std::uint64_t{0});
  SYMNAS_TRY(context.change("POST", fmt::format("/v1/vnfs/{}/restart", name), {{"epoch", epoch}}));
  if (context.mode == Mode::kDryRun) return {};
  return wait_for_next(context, name, epoch, timeout_s);
}

// A head beside `head` that could serve the VNFS now; "": there is none.
Result<std::string> other_head(Context& context, const json& vnfs, const std::string& head) {
  for (const json& candidate : vnfs.value("heads", json::array())) {
    const std::string name = candidate.get<std::string>();
    if (name == head) continue;
    SYMNAS_ASSIGN(const json why,
                  context.client.request(
                      "GET", fmt::format("/v1/vnfs/{}/why/{}", vnfs.value("name", ""), name), {}));
    if (why.value("verdict", "") == "may") return name;
  }
  return "";
}

// There and back again: two short waits of its clients instead of a longer one, and it serves on
// the other head should the new version not start. Pinned there, so that nobody fails it back
// meanwhile.
Status through(Context& context, const json& vnfs, const std::string& other,
               const UpgradeOptions& o) {
  const std::string name = vnfs.value("name", "");
  SYMNAS_TRY(move_to(context, name, other, {{"head", other}, {"pin", true}}, o.timeout_s));
  const bool was_pinned = vnfs.value("pinned", "") == o.head;
  const Status back =
      move_to(context, name, o.head, {{"head", o.head}, {"pin", was_pinned}}, o.timeout_s);
  if (!back) {
    Error error = back.error();
    error.message += fmt::format(" [vnfs {} is served by {}: symnas vnfs rehost {} {}]", name,
                                 other, name, o.head);
    return tl::unexpected<Error>(std::move(error));
  }
  context.print_done(fmt::format("vnfs {}: moved to {} and back", name, other));
  return {};
}

Status upgrade_one(Context& context, const json& vnfs, const UpgradeOptions& o) {
  const std::string name = vnfs.value("name", "");
  std::string other;
  if (!o.in_place) {
    SYMNAS_ASSIGN(other, other_head(context, vnfs, o.head));
  }
  if (context.mode == Mode::kDryRun) {
    context.print_done(other.empty()
                           ? fmt::format("vnfs {}: would be restarted in place", name)
                           : fmt::format("vnfs {}: would be moved to {} and back", name, other));
    return {};
  }
  if (!other.empty()) return through(context, vnfs, other, o);
  return restart(context, name, o.timeout_s);
}

// Whether the head serves the VNFS by an instance that another version has started.
bool is_earlier(const json& vnfs, const json& head) {
  return vnfs.value("owner", "") == head.value("name", "?") &&
         (vnfs.value("version", "") != head.value("version", "") ||
          vnfs.value("level", 0) != head.value("level", 0));
}

// Errors: kConflict (something of it is of another version all the same).
Status say_upgraded(Context& context, const json& head) {
  const std::string name = head.value("name", "");
  const std::string version = head.value("version", "");
  SYMNAS_ASSIGN(const json vnfses, rows_of(context, "vnfs"));
  for (const json& vnfs : vnfses) {
    if (!is_earlier(vnfs, head)) continue;
    return fail(ErrorCode::kConflict,
                fmt::format("head {}: VNFS {} is of version {} (was its vnfsd restarted after the "
                            "installation? symnas head ls)",
                            name, vnfs.value("name", ""), vnfs.value("version", "?")));
  }
  context.print_done(fmt::format("head {}: all it serves is of version {}", name, version));
  return {};
}

Status upgrade(Context& context, const UpgradeOptions& given) {
  UpgradeOptions o = given;
  if (o.head.empty()) {
    SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
    o.head = status.value("head", "");
  }
  SYMNAS_TRY(check_path_name(o.head));
  SYMNAS_ASSIGN(const json heads, rows_of(context, "heads"));
  const json head = row_of(heads, o.head);
  if (head.is_null()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("head {}: does not exist (symnas head ls)", o.head));
  }
  std::set<std::string> done;  // a VNFS that came back as it was is not tried again
  for (;;) {
    SYMNAS_ASSIGN(const json vnfses, rows_of(context, "vnfs"));
    const auto next = std::find_if(vnfses.begin(), vnfses.end(), [&](const json& vnfs) {
      return is_earlier(vnfs, head) && !done.contains(vnfs.value("name", ""));
    });
    if (next == vnfses.end()) break;
    done.insert(next->value("name", ""));
    SYMNAS_TRY(upgrade_one(context, *next, o));
  }
  if (context.mode == Mode::kDryRun) return {};
  return say_upgraded(context, head);
}

void add_timeout(CLI::App* verb, int& timeout_s) {
  verb->add_option("--timeout", timeout_s, "Seconds to wait for each new instance")
      ->capture_default_str();
}

}  // namespace

void add_vnfs_restart(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<UpgradeOptions>();
  auto name = std::make_shared<std::string>();
  CLI::App* verb = add_change_verb(line, noun, "restart",
                                   "Close its instance as for a move, and start another one there");
  verb->add_option("NAME", *name, "Name of the VNFS")->required();
  add_timeout(verb, o->timeout_s);
  verb->callback([&line, o, name] {
    line.action = [o, name](Context& context) { return restart(context, *name, o->timeout_s); };
  });
}

void add_head_upgrade(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<UpgradeOptions>();
  CLI::App* verb = add_change_verb(
      line, noun, "upgrade",
      "Replace instances of an earlier version, one VNFS after the other; clients go on");
  verb->add_option("NAME", o->head, "Name of the head; without it: this one");
  verb->add_flag("--in-place", o->in_place, "Restart them there; move none to another head");
  add_timeout(verb, o->timeout_s);
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return upgrade(context, *o); }; });
}

void add_raise_level(CommandLine& line, CLI::App* noun) {
  CLI::App* verb = add_change_verb(
      line, noun, "raise-level",
      "Let records hold what this version brings; earlier versions are admitted no more");
  verb->callback([&line] {
    line.action = [](Context& context) {
      return context.change("POST", "/v1/level", json::object());
    };
  });
}

}  // namespace symnas::vnfsd::ctl
