#include "vnfsd/config/config.h"

#include <fstream>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "vnfsd/config/limits.h"
#include "vnfsd/config/table_reader.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/listen_address.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd {
namespace {

Status read_identity(const toml::table& root, std::string_view origin, Config& config) {
  TableReader cluster(root, origin, "cluster");
  std::string uuid;
  cluster.required_text("name", config.cluster_name);
  cluster.required_text("uuid", uuid);
  SYMNAS_TRY(cluster.finish());
  SYMNAS_TRY(check_name("cluster", config.cluster_name));
  const auto parsed = Uuid::parse(uuid);
  if (!parsed) {
    cluster.error("uuid", "is not a UUID");
    return cluster.finish();
  }
  config.cluster_uuid = *parsed;

  TableReader head(root, origin, "head");
  head.required_text("name", config.head_name);
  head.required_text("address", config.head_address);
  head.text("admission", config.admission);
  head.texts("probe_addresses", config.probe_addresses);
  SYMNAS_TRY(head.finish());
  SYMNAS_TRY(check_host_name("head", config.head_name));
  SYMNAS_TRY(IpAddress::parse(config.head_address));
  for (const std::string& address : config.probe_addresses) SYMNAS_TRY(IpAddress::parse(address));
  return {};
}

Status read_metrics(const toml::table& root, std::string_view origin, MetricsConfig& metrics) {
  TableReader reader(root, origin, "metrics");
  reader.text("listen", metrics.listen);
  if (!metrics.listen.empty()) {
    const auto listen = parse_listen_address(metrics.listen);
    if (!listen) reader.error("listen", listen.error().message);
  }
  for (auto& [key, path] : {std::pair<const char*, std::string&>{"cert", metrics.cert},
                            {"key", metrics.key},
                            {"client_ca", metrics.client_ca}}) {
    reader.text(key, path);
    if (!path.empty() && path.front() != '/') reader.error(key, "must be an absolute path");
  }
  if (metrics.cert.empty() != metrics.key.empty()) reader.error("key", "goes with cert");
  if (!metrics.client_ca.empty() && metrics.cert.empty())
    reader.error("client_ca", "needs cert and key");
  return reader.finish();
}

Status read_sections(const toml::table& root, std::string_view origin, Config& config) {
  TableReader etcd(root, origin, "etcd");
  etcd.texts("endpoints", config.etcd.endpoints);
  if (config.etcd.endpoints.empty()) etcd.error("endpoints", "is missing");
  etcd.absolute_path("ca", config.etcd.ca);
  etcd.absolute_path("cert", config.etcd.cert);
  etcd.absolute_path("key", config.etcd.key);
  etcd.number("quota_bytes", kQuotaBytesMin, kQuotaBytesMax, config.etcd.quota_bytes);
  etcd.number("compact_interval_s", 1, 86'400, config.etcd.compact_interval_s);
  etcd.number("compact_keep_s", 60, 86'400, config.etcd.compact_keep_s);
  etcd.number("compact_keep_revisions", 1000, 100'000'000, config.etcd.compact_keep_revisions);
  SYMNAS_TRY(etcd.finish());

  TableReader daemon(root, origin, "daemon");
  daemon.absolute_path("run_dir", config.daemon.run_dir);
  daemon.absolute_path("log_dir", config.daemon.log_dir);
  config.daemon.socket = config.daemon.run_dir + "/vnfsd.sock";
  daemon.absolute_path("socket", config.daemon.socket);
  daemon.text("log_level", config.daemon.log_level);
  daemon.texts("lun_paths", config.daemon.lun_paths);
  SYMNAS_TRY(daemon.finish());

  TableReader fence(root, origin, "fence");
  fence.flag("persistent_reservations", config.fence.persistent_reservations);
  fence.text("reservation_program", config.fence.reservation_program);
  if (!config.fence.reservation_program.empty() && config.fence.reservation_program.front() != '/')
    fence.error("reservation_program", "must be an absolute path");
  fence.text("agent", config.fence.agent);
  if (!config.fence.agent.empty() && config.fence.agent.front() != '/') {
    fence.error("agent", "must be an absolute path");
  }
  fence.texts("options", config.fence.options);
  for (const std::string& option : config.fence.options) {
    if (option.find('=') == std::string::npos || option.find('\n') != std::string::npos) {
      fence.error("options", "must be a list of \"key=value\"");
    }
  }
  fence.number("timeout_s", 1, 600, config.fence.timeout_s);
  fence.flag("automatic", config.fence.automatic);
  fence.text("cuts", config.fence.cuts);
  if (config.fence.cuts != "power" && config.fence.cuts != "luns") {
    fence.error("cuts", "must be \"power\" or \"luns\"");
  }
  SYMNAS_TRY(fence.finish());

  TableReader detection(root, origin, "detection");
  detection.flag("corosync", config.detection.corosync);
  SYMNAS_TRY(detection.finish());

  TableReader failback(root, origin, "failback");
  failback.number("settle_s", 1, kSettleSMax, config.failback.settle_s);
  SYMNAS_TRY(failback.finish());

  SYMNAS_TRY(read_metrics(root, origin, config.metrics));

  TableReader ganesha(root, origin, "ganesha");
  ganesha.absolute_path("prefix", config.ganesha.prefix);
  config.ganesha.plugin_dir = config.ganesha.prefix + "/lib/ganesha";
  ganesha.absolute_path("plugin_dir", config.ganesha.plugin_dir);
  ganesha.absolute_path("rpcbind", config.ganesha.rpcbind);
  ganesha.number("threads_max", 2, 4096, config.ganesha.threads_max);
  ganesha.number("lease_s", 1, 180, config.ganesha.lease_s);  // ganesha's own bounds
  ganesha.number("grace_s", 0, 180, config.ganesha.grace_s);
  ganesha.text("log_level", config.ganesha.log_level);
  static const std::set<std::string> kLevels = {"FATAL", "MAJ",   "CRIT",      "WARN",      "EVENT",
                                                "INFO",  "DEBUG", "MID_DEBUG", "FULL_DEBUG"};
  if (!kLevels.contains(config.ganesha.log_level)) {
    ganesha.error("log_level", "must be one of ganesha's levels (EVENT, INFO, DEBUG, ...)");
  }
  return ganesha.finish();
}

toml::array to_array(const std::vector<std::string>& values) {
  toml::array array;
  for (const std::string& value : values) array.push_back(value);
  return array;
}

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view origin) {
  try {
    const toml::table root = toml::parse(text);
    static const std::set<std::string> kSections = {"cluster", "head",  "etcd",      "daemon",
                                                    "ganesha", "fence", "detection", "failback",
                                                    "metrics", "api"};
    for (const auto& [key, value] : root) {
      if (!kSections.contains(std::string(key.str()))) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: '{}' is not a known section", origin, key.str()));
      }
    }
    Config config;
    SYMNAS_TRY(read_identity(root, origin, config));
    SYMNAS_TRY(read_sections(root, origin, config));
    return config;
  } catch (const toml::parse_error& error) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: line {}: {}", origin, error.source().begin.line, error.description()));
  }
}

Result<Config> load_config(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}: cannot be read (symnas cluster init or head join writes it)", path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse_config(text.str(), path);
}

std::string render_config(const Config& c) {
  const auto section = [](std::string_view name, const toml::table& table) {
    std::ostringstream out;
    out << "[" << name << "]\n" << table << "\n\n";
    return out.str();
  };
  return section("cluster",
                 toml::table{{"name", c.cluster_name}, {"uuid", c.cluster_uuid.to_string()}}) +
         section("head", toml::table{{"name", c.head_name},
                                     {"address", c.head_address},
                                     {"admission", c.admission},
                                     {"probe_addresses", to_array(c.probe_addresses)}}) +
         section("etcd", toml::table{{"endpoints", to_array(c.etcd.endpoints)},
                                     {"ca", c.etcd.ca},
                                     {"cert", c.etcd.cert},
                                     {"key", c.etcd.key},
                                     {"quota_bytes", c.etcd.quota_bytes},
                                     {"compact_interval_s", c.etcd.compact_interval_s},
                                     {"compact_keep_s", c.etcd.compact_keep_s},
                                     {"compact_keep_revisions", c.etcd.compact_keep_revisions}}) +
         section("daemon", toml::table{{"run_dir", c.daemon.run_dir},
                                       {"log_dir", c.daemon.log_dir},
                                       {"socket", c.daemon.socket},
                                       {"log_level", c.daemon.log_level},
                                       {"lun_paths", to_array(c.daemon.lun_paths)}}) +
         section("ganesha", toml::table{{"prefix", c.ganesha.prefix},
                                        {"plugin_dir", c.ganesha.plugin_dir},
                                        {"rpcbind", c.ganesha.rpcbind},
                                        {"threads_max", c.ganesha.threads_max},
                                        {"lease_s", c.ganesha.lease_s},
                                        {"grace_s", c.ganesha.grace_s},
                                        {"log_level", c.ganesha.log_level}}) +
         section("fence", toml::table{{"persistent_reservations", c.fence.persistent_reservations},
                                      {"reservation_program", c.fence.reservation_program},
                                      {"agent", c.fence.agent},
                                      {"options", to_array(c.fence.options)},
                                      {"timeout_s", c.fence.timeout_s},
                                      {"automatic", c.fence.automatic},
                                      {"cuts", c.fence.cuts}}) +
         // Only where it is on: versions before it refuse a section that they do not know.
         (c.detection.corosync
              ? section("detection", toml::table{{"corosync", c.detection.corosync}})
              : "") +
         section("failback", toml::table{{"settle_s", c.failback.settle_s}}) +
         // The same.
         (c.metrics.listen.empty()
              ? ""
              : section("metrics", toml::table{{"listen", c.metrics.listen},
                                               {"cert", c.metrics.cert},
                                               {"key", c.metrics.key},
                                               {"client_ca", c.metrics.client_ca}}));
}

}  // namespace symnas::vnfsd
