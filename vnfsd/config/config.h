// Config: vnfsd.toml. Thread-compatible value type. The only user of toml++.
// Settings and defaults: docs/operations/configuration.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/uuid.h"
#include "vnfsd/config/limits.h"

namespace symnas::vnfsd {

struct EtcdConfig {
  std::vector<std::string> endpoints;  // "https://10.99.0.1:2379"
  std::string ca;
  std::string cert;
  std::string key;
  std::int64_t quota_bytes = std::int64_t{8} << 30;  // as in the members' etcd.yml
  std::int64_t compact_interval_s = 60;
  std::int64_t compact_keep_s = 600;
  std::int64_t compact_keep_revisions = 200'000;  // some 400 MB of etcd at 2 KB per change
};

struct DaemonConfig {
  std::string run_dir = "/run/symnas";
  std::string log_dir = "/var/log/symnas";
  std::string socket;  // default: run_dir + "/vnfsd.sock"
  std::string log_level = "info";
  std::vector<std::string> lun_paths;
};

struct GaneshaConfig {
  std::string prefix = "/usr/lib/symnas/ganesha";
  std::string plugin_dir;  // default: prefix + "/lib/ganesha"
  std::string rpcbind = "/sbin/rpcbind";
  std::int64_t threads_max = 1024;
  std::int64_t lease_s = 20;
  std::int64_t grace_s = 20;
  std::string log_level = "EVENT";
};

// How other heads are cut off (ha/fencing). When both ways are configured, reservations come first
// and the agent second.
struct FenceConfig {
  // By persistent reservations of the LUNs: every head registers on them, and preempts.
  bool persistent_reservations = false;
  std::string reservation_program;   // "" = symnas-fence beside vnfsd
  std::string agent;                 // a program: ha/fencing/fence_agent.h; "" = none
  std::vector<std::string> options;  // "key=value"
  std::int64_t timeout_s = 60;
  // Whether mounts that keep others waiting are ended without being asked:
  // docs/operations/fencing.md
  bool automatic = true;
  // What the agent cuts: "power" (nothing of the head runs afterwards) or "luns" (its processes go
  // on and may answer from memory until their proof of life is too old: its mounts end only then).
  std::string cuts = "luns";
};

// How long one action of a fence may take, whichever way is tried.
inline std::int64_t fence_timeout_s(const FenceConfig& fence) {
  return fence.persistent_reservations && !fence.agent.empty() ? 2 * fence.timeout_s
                                                               : fence.timeout_s;
}

struct DetectionConfig {
  bool corosync = false;  // corosync's membership is a witness of silent heads (ha/detection)
};

// Where metrics are served over the network (vnfsd/metrics).
struct MetricsConfig {
  std::string listen;  // as parse_listen_address(); "" = nowhere
  std::string cert;    // PEM files; with them TLS is spoken. Both or none
  std::string key;
  std::string client_ca;  // PEM file: only clients with a certificate of it are answered; "" = all
};

struct FailbackConfig {
  std::int64_t settle_s = kSettleS;  // how long a head serves before VNFSs go back to it
};

struct Config {
  std::string cluster_name;
  Uuid cluster_uuid;
  std::string head_name;
  std::string head_address;
  std::string admission;                     // vnfsd/plans/admission.h; "" = it was not invited
  std::vector<std::string> probe_addresses;  // of the head on further networks (ha/detection)
  EtcdConfig etcd;
  DaemonConfig daemon;
  GaneshaConfig ganesha;
  FenceConfig fence;
  DetectionConfig detection;
  FailbackConfig failback;
  MetricsConfig metrics;
};

// Parses the text of a vnfsd.toml. `origin` names it in messages.
// Errors: kInvalidArgument (syntax, unknown key, wrong type or range, missing key: the message says
// which).
Result<Config> parse_config(std::string_view text, std::string_view origin);
// Reads and parses a file. Errors: as parse_config; kNotFound.
Result<Config> load_config(const std::string& path);
// The text parse_config() reads back to an equal value.
std::string render_config(const Config& config);

}  // namespace symnas::vnfsd
