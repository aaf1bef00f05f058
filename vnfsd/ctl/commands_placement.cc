// symnas vnfs status, why, set, create-set; symnas head drain, undrain.
#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/progress_bar.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr auto kDrainPoll = std::chrono::milliseconds(200);

std::string failback_text(const json& vnfs) {
  const std::string pinned = vnfs.value("pinned", "");
  return vnfs.value("failback", "?") + (pinned.empty() ? "" : ", pinned to " + pinned);
}

Column of_head(const json& head) {
  const std::string name = head.value("name", "?");
  const std::string state = head.value("state", "serving");
  return {
      state == "serving" ? name : fmt::format("{} ({})", name, state),
      [name](const json& vnfs) { return vnfs.value("places", json::object()).value(name, "-"); }};
}

Status show_places(Context& context) {
  SYMNAS_ASSIGN(const json document, context.client.request("GET", "/v1/placement", {}));
  if (context.output == Output::kJson) {
    context.out << document.dump(2) << "\n";
    return {};
  }
  std::vector<Column> columns = {plain("VNFS", "name"), state("STATE", "state"),
                                 Column{"FAILBACK", failback_text}};
  for (const json& head : document.value("heads", json::array())) columns.push_back(of_head(head));
  const json vnfses = document.value("vnfs", json::array());
  context.out << render_table(columns, vnfses, context.paint);
  for (const json& vnfs : vnfses) {
    for (const char* member : {"why", "exports_problem"}) {
      const std::string why = vnfs.value(member, "");
      if (!why.empty()) context.out << fmt::format("vnfs {}: {}\n", vnfs.value("name", "?"), why);
    }
  }
  return {};
}

// "may run on b"
std::string sentence_of(const json& document) {
  static const std::map<std::string, std::string> kVerdicts = {{"runs", "runs on"},
                                                               {"coming", "is on its way to"},
                                                               {"next", "is to run on"},
                                                               {"may", "may run on"},
                                                               {"may_not", "may not run now on"}};
  const std::string verdict = document.value("verdict", "?");
  const auto known = kVerdicts.find(verdict);
  return fmt::format("{} {}", known == kVerdicts.end() ? verdict : known->second,
                     document.value("head", "?"));
}

// "what (next)"
std::string with_next(const json& entry, const char* what) {
  const std::string next = entry.value("next", "");
  return entry.value(what, "") + (next.empty() ? "" : fmt::format(" ({})", next));
}

void print_why(std::ostream& out, const json& document) {
  const std::string owner = document.value("owner", "");
  const std::string why = document.value("why", "");
  out << fmt::format("vnfs {}: {}: {}, standby: {}\n", document.value("vnfs", "?"),
                     sentence_of(document), document.value("role", "?"),
                     document.value("standby", "?"));
  out << fmt::format("  now: {}, {} has it{}{}\n", document.value("state", "?"),
                     owner.empty() ? "nobody" : owner, why.empty() ? "" : ": ", why);
  out << fmt::format("  plan: {}\n", document.value("planned", json::object()).value("text", "?"));
  for (const json& reason : document.value("reasons", json::array())) {
    const bool own = reason.value("orders", "") == "own";
    out << fmt::format("  {}: {}\n", own ? "not by itself" : "against it",
                       with_next(reason, "why"));
  }
  for (const json& way : document.value("ways", json::array()))
    out << fmt::format("  way: {}\n", with_next(way, "what"));
  for (const json& note : document.value("notes", json::array()))
    out << fmt::format("  note: {}\n", note.get<std::string>());
}

Status tell_why(Context& context, const std::string& vnfs, const std::string& head) {
  SYMNAS_TRY(check_path_name(vnfs));
  SYMNAS_TRY(check_path_name(head));
  SYMNAS_ASSIGN(const json document,
                context.client.request("GET", fmt::format("/v1/vnfs/{}/why/{}", vnfs, head), {}));
  if (context.output == Output::kJson) {
    context.out << document.dump(2) << "\n";
  } else {
    print_why(context.out, document);
  }
  return {};
}

struct DrainOptions {
  std::string name;
  bool wait = false;
  int timeout_s = 120;
};

// Waits until the head serves no VNFS. Errors: kBusy after timeout_s, with what stays and why.
Status wait_until_drained(Context& context, const DrainOptions& o) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(o.timeout_s);
  ProgressBar bar(context);
  std::size_t most = 1;  // VNFSs that it had, as far as was seen
  for (;;) {
    SYMNAS_ASSIGN(const json document, context.client.request("GET", "/v1/placement", {}));
    std::string left;
    std::size_t count = 0;
    for (const json& vnfs : document.value("vnfs", json::array())) {
      if (vnfs.value("owner", "") != o.name) continue;
      most = std::max(most, ++count);
      const std::string why = vnfs.value("why", "");
      left += fmt::format("{}vnfs {}: is {}{}{}", left.empty() ? "" : "; ", vnfs.value("name", "?"),
                          vnfs.value("state", "?"), why.empty() ? "" : ": ", why);
    }
    if (left.empty()) return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorCode::kBusy,
                  fmt::format("head {}: not drained after {} s, what can go still goes: {} (symnas "
                              "vnfs status)",
                              o.name, o.timeout_s, left));
    }
    bar.show(static_cast<double>(most - count) / static_cast<double>(most), left);
    std::this_thread::sleep_for(kDrainPoll);
  }
}

Status drain(Context& context, const DrainOptions& o) {
  SYMNAS_TRY(check_path_name(o.name));
  SYMNAS_TRY(context.change("POST", "/v1/heads/" + o.name + "/drain", json::object()));
  if (!o.wait || context.mode == Mode::kDryRun) return {};
  return wait_until_drained(context, o);
}

struct SetOptions {
  std::string prefix;
  std::vector<std::string> vip_ranges, exports, heads;
  std::string failback = "manual";
  WaitOptions wait;
};

Status create_set(Context& context, const SetOptions& o) {
  json body = {{"prefix", o.prefix},
               {"vip_ranges", o.vip_ranges},
               {"exports", o.exports},
               {"failback", o.failback}};
  if (!o.heads.empty()) body["heads"] = o.heads;
  SYMNAS_TRY(context.change("POST", "/v1/vnfs-sets", body));
  if (o.wait.no_wait || context.mode == Mode::kDryRun) return {};
  std::size_t count = o.heads.size();
  if (count == 0) {
    SYMNAS_ASSIGN(const json listed, context.client.request("GET", "/v1/heads", {}));
    count = listed.value("heads", json::array()).size();
  }
  for (std::size_t i = 1; i <= count; ++i) {
    SYMNAS_TRY(
        wait_for_state(context, fmt::format("{}{}", o.prefix, i), "serving", o.wait.timeout_s));
  }
  return {};
}

}  // namespace

CLI::Option* add_failback(CLI::App* verb, std::string& policy) {
  return verb
      ->add_option("--failback", policy,
                   "auto: back to an earlier head as soon as that has served for a minute")
      ->check(CLI::IsMember({"auto", "manual"}));
}

void add_vnfs_places(CommandLine& line, CLI::App* noun) {
  noun->add_subcommand("status", "Which VNFS is on which of its heads")->callback([&line] {
    line.action = show_places;
  });
  auto vnfs = std::make_shared<std::string>();
  auto head = std::make_shared<std::string>();
  CLI::App* why = noun->add_subcommand("why", "Why a VNFS may or may not run on a head now");
  why->add_option("NAME", *vnfs, "Name of the VNFS")->required();
  why->add_option("HEAD", *head, "Name of the head")->required();
  why->callback([&line, vnfs, head] {
    line.action = [vnfs, head](Context& context) { return tell_why(context, *vnfs, *head); };
  });
}

void add_drains(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<DrainOptions>();
  CLI::App* verb =
      add_change_verb(line, noun, "drain", "Have its VNFSs move to other heads, and keep it empty");
  verb->add_option("NAME", o->name, "Name of the head")->required();
  verb->add_flag("--wait", o->wait, "Wait until nothing is left there");
  verb->add_option("--timeout", o->timeout_s, "Seconds to wait")->capture_default_str();
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return drain(context, *o); }; });

  auto name = std::make_shared<std::string>();
  verb = add_change_verb(line, noun, "undrain", "Let a head take VNFSs again");
  verb->add_option("NAME", *name, "Name of the head")->required();
  verb->callback([&line, name] {
    line.action = [name](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(*name));
      return context.change("POST", "/v1/heads/" + *name + "/undrain", json::object());
    };
  });
}

void add_vnfs_sets(CommandLine& line, CLI::App* noun) {
  struct Edit {
    std::string name, failback;
    std::vector<std::string> heads;
  };
  auto edit = std::make_shared<Edit>();
  CLI::App* verb = add_change_verb(line, noun, "set", "Change a VNFS, also while it is served");
  verb->add_option("NAME", edit->name, "Name of the VNFS")->required();
  add_failback(verb, edit->failback);
  verb->add_option("--heads", edit->heads, "Heads, primary first, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->callback([&line, edit] {
    line.action = [edit](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(edit->name));
      json body = json::object();
      if (!edit->failback.empty()) body["failback"] = edit->failback;
      if (!edit->heads.empty()) body["heads"] = edit->heads;
      if (body.empty()) {
        return fail(ErrorCode::kInvalidArgument,
                    "vnfs set: nothing to change was given (--failback, --heads)");
      }
      return context.change("POST", "/v1/vnfs/" + edit->name + "/set", body);
    };
  });

  auto o = std::make_shared<SetOptions>();
  verb = add_change_verb(line, noun, "create-set",
                         "Make a VNFS for every head, the others being its backups in turn");
  verb->add_option("PREFIX", o->prefix, "Of the names: PREFIX1, PREFIX2, ...")->required();
  const auto add_list = [&](const char* option, std::vector<std::string>& into, const char* what) {
    return verb->add_option(option, into, what)->delimiter(',')->allow_extra_args(false);
  };
  add_list("--vip-range", o->vip_ranges, "First VIP and its network, as 10.0.0.101/24@nfs0; 1 to 4")
      ->required();
  add_list("--exports", o->exports, "Exports of every one, separated by commas")->required();
  add_list("--heads", o->heads, "Heads, separated by commas; all unless given");
  add_failback(verb, o->failback)->capture_default_str();
  add_wait(verb, o->wait);
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return create_set(context, *o); }; });
}

}  // namespace symnas::vnfsd::ctl
