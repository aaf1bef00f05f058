// symnas head check: is this machine fit to be a head.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/config/config.h"
#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/head_files.h"
#include "vnfsd/preflight/check.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t kAgentMs = 30'000;  // the head is not serving yet: somebody waits

struct CheckWords {
  HeadPlaces places;
  std::vector<std::string> peers;
  bool no_etcd = false;
};

// "https://10.99.0.1:2379" -> "10.99.0.1"
std::string host_of(const std::string& endpoint) {
  const std::size_t begin = endpoint.find("://");
  std::string out = begin == std::string::npos ? endpoint : endpoint.substr(begin + 3);
  return out.substr(0, out.rfind(':'));
}

std::string own_program(const char* name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / name).string();
}

// What a head that has its files says of itself; what the command line says comes first.
void fill_from(const Config& config, preflight::CheckOptions& options, const CheckWords& words) {
  options.joined = true;
  options.ganesha = config.ganesha.prefix + "/bin/ganesha.nfsd";
  if (words.places.lun_paths.empty() && !config.daemon.lun_paths.empty())
    options.lun_paths = config.daemon.lun_paths;
  for (const std::string& endpoint : config.etcd.endpoints) {
    const std::string host = host_of(endpoint);
    if (host != config.head_address && host != "127.0.0.1") options.peers.push_back(host);
  }
  if (config.fence.persistent_reservations && options.reservation_program.empty())
    options.reservation_program = own_program("symnas-fence");
  if (!config.fence.reservation_program.empty())
    options.reservation_program = config.fence.reservation_program;
  if (options.agent.program.empty() && !config.fence.agent.empty()) {
    options.agent = {config.fence.agent, config.fence.options, config.fence.timeout_s * 1000, -1};
  }
}

Result<preflight::CheckOptions> options_of(const CheckWords& words) {
  SYMNAS_ASSIGN(const HeadPlaces places, with_fence_options(words.places, std::cin));
  preflight::CheckOptions options;
  options.etcd_dir = words.no_etcd ? "" : places.etcd_dir;
  options.peers = words.peers;
  options.lun_paths = places.lun_paths;
  if (options.lun_paths.empty()) options.lun_paths = {"/dev/disk/by-id/*"};
  if (places.fence_reservations) options.reservation_program = own_program("symnas-fence");
  if (!places.fence_agent.empty())
    options.agent = {places.fence_agent, places.fence_options, kAgentMs, -1};
  options.ganesha =
      (places.ganesha_prefix.empty() ? GaneshaConfig().prefix : places.ganesha_prefix) +
      "/bin/ganesha.nfsd";
  const std::string file = places.config_dir + "/vnfsd.toml";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return options;
  SYMNAS_ASSIGN(const Config config, load_config(file));
  fill_from(config, options, words);
  return options;
}

// Before the head has joined, or without its vnfsd, nobody says who decides.
bool is_pacemaker_decider(Context& context) {
  const auto status = context.client.request("GET", "/v1/status", {});
  return status && status->value("cluster", json::object()).value("decider", "") == "pacemaker";
}

Status check(Context& context, const CheckWords& words) {
  SYMNAS_ASSIGN(preflight::CheckOptions options, options_of(words));
  if (options.joined && is_pacemaker_decider(context))
    options.stonith_program = preflight::kStonithProgram;
  json rows = json::array();
  bool problem = false;
  for (const preflight::Finding& finding : preflight::check_head(options)) {
    problem = problem || finding.verdict == preflight::Verdict::kProblem;
    rows.push_back({{"subject", finding.subject},
                    {"verdict", preflight::word_of(finding.verdict)},
                    {"what", finding.what},
                    {"next", finding.next}});
  }
  if (problem) context.exit_code = kExitFindings;
  return context.print({{"findings", rows}}, "findings",
                       {plain("SUBJECT", "subject"), plain("VERDICT", "verdict"),
                        plain("SEEN", "what"), plain("WHAT TO DO", "next")});
}

}  // namespace

void add_head_check(CommandLine& line, CLI::App* noun) {
  auto words = std::make_shared<CheckWords>();
  CLI::App* verb = noun->add_subcommand(
      "check",
      "Whether this machine is fit to be a head: before cluster init or head join, or now");
  verb->add_option("--peer", words->peers, "Management address of another head (may be repeated)")
      ->allow_extra_args(false);
  verb->add_flag("--no-etcd", words->no_etcd, "It is not to be an etcd member");
  add_places(verb, words->places);
  verb->callback([&line, words] {
    line.action = [words](Context& context) { return check(context, *words); };
  });
}

}  // namespace symnas::vnfsd::ctl
