#include "vnfsd/ctl/head_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "vnfsd/api/limits.h"
#include "vnfsd/config/limits.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/pki/authority.h"

namespace symnas::vnfsd::ctl {
namespace {

struct NewFile {
  std::string path;
  std::string text;
  mode_t mode;
};

std::string tls_dir(const HeadPlaces& places) { return places.config_dir + "/tls"; }
std::string config_path(const HeadPlaces& places) { return places.config_dir + "/vnfsd.toml"; }
std::string client_url(const std::string& address) {
  return fmt::format("https://{}:{}", address, kEtcdClientPort);
}

Config config_for(const std::string& cluster, const Uuid& uuid, const std::string& head,
                  const std::string& address, std::vector<std::string> endpoints,
                  const HeadPlaces& places) {
  const HeadPlaces defaults;
  Config config;
  config.cluster_name = cluster;
  config.cluster_uuid = uuid;
  config.head_name = head;
  config.head_address = address;
  config.etcd.endpoints = std::move(endpoints);
  config.etcd.ca = tls_dir(places) + "/ca.crt";
  config.etcd.cert = tls_dir(places) + "/head.crt";
  config.etcd.key = tls_dir(places) + "/head.key";
  config.daemon.run_dir = places.run_dir;
  if (!places.log_dir.empty()) {
    config.daemon.log_dir = places.log_dir;
  } else if (places.run_dir != defaults.run_dir) {
    config.daemon.log_dir = places.run_dir + "/log";
  }
  config.daemon.socket = places.run_dir + "/vnfsd.sock";
  config.daemon.lun_paths = places.lun_paths;
  if (places.lun_paths.empty()) config.daemon.lun_paths = {"/dev/disk/by-id/*"};
  config.probe_addresses = places.probe_addresses;
  config.fence.persistent_reservations = places.fence_reservations;
  config.fence.agent = places.fence_agent;
  config.fence.options = places.fence_options;
  config.fence.cuts = places.fence_cuts;
  config.fence.automatic = !places.fence_when_asked;
  if (!places.ganesha_prefix.empty()) config.ganesha.prefix = places.ganesha_prefix;
  config.ganesha.plugin_dir =
      places.plugin_dir.empty() ? config.ganesha.prefix + "/lib/ganesha" : places.plugin_dir;
  return config;
}

Status check_places(const HeadPlaces& places) {
  for (const std::string& address : places.probe_addresses) SYMNAS_TRY(IpAddress::parse(address));
  for (const auto& [option, path] :
       {std::pair{"--config-dir", places.config_dir}, std::pair{"--etcd-dir", places.etcd_dir},
        std::pair{"--run-dir", places.run_dir}, std::pair{"--log-dir", places.log_dir},
        std::pair{"--ganesha-prefix", places.ganesha_prefix},
        std::pair{"--plugin-dir", places.plugin_dir},
        std::pair{"--fence-agent", places.fence_agent}}) {
    if (path.empty()) continue;
    // The paths end up in etcd.yml and ganesha.conf.
    if (path.front() != '/' || path.find_first_of("\"\\'\n\t#") != std::string::npos) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} '{}': must be an absolute path without quotes, backslashes, tabs "
                              "or '#'",
                              option, path));
    }
  }
  return {};
}

Status check_identity(const std::string& cluster, const std::string& head,
                      const std::string& address) {
  SYMNAS_TRY(check_name("cluster", cluster));
  SYMNAS_TRY(check_host_name("head", head));
  SYMNAS_ASSIGN(const IpAddress parsed, IpAddress::parse(address));
  if (parsed.family != AddressFamily::kIpv4) {
    return fail(
        ErrorCode::kNotSupported,
        fmt::format("head {}: address {}: IPv6 is not supported (use IPv4)", head, address));
  }
  return {};
}

// All or, as far as a file system allows, nothing: what exists is never overwritten.
Status write_new_files(const std::vector<NewFile>& files) {
  for (const NewFile& file : files) {
    struct stat found {};
    if (::stat(file.path.c_str(), &found) == 0) {
      return fail(ErrorCode::kAlreadyExists,
                  fmt::format("file {}: exists already: this head belongs to a cluster (remove the "
                              "file to begin anew, or choose another --config-dir)",
                              file.path));
    }
  }
  for (const NewFile& file : files) {
    SYMNAS_TRY(instance::write_file_atomically(file.path, file.text, file.mode));
  }
  return {};
}

Status make_private_directory(const std::string& path) {
  SYMNAS_TRY(instance::make_directories(path));
  if (::chmod(path.c_str(), 0700) != 0) {
    return fail(ErrorCode::kIo, fmt::format("directory {}: {}", path, std::strerror(errno)));
  }
  return {};
}

}  // namespace

Result<HeadPlaces> with_fence_options(HeadPlaces places, std::istream& standard_input) {
  if (places.fence_options_file.empty()) return places;
  std::string text;
  if (places.fence_options_file == "-") {
    text.assign(std::istreambuf_iterator<char>(standard_input), {});
  } else {
    SYMNAS_ASSIGN(text, instance::read_file(places.fence_options_file));
  }
  if (text.size() > api::kRequestBytesMax)
    return fail(ErrorCode::kTooLarge, "--fence-options-file: that long no fence agent takes them");
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.find('=') == std::string::npos) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--fence-options-file {}: line {}: is not key=value",
                              places.fence_options_file, number));
    }
    places.fence_options.push_back(line);
  }
  return places;
}

std::string render_etcd_config(const EtcdMember& member, const HeadPlaces& places) {
  const std::string tls = tls_dir(places);
  const bool first = member.initial_cluster.empty();
  const std::string transport = fmt::format(
      "  cert-file: \"{0}/head.crt\"\n  key-file: \"{0}/head.key\"\n"
      "  trusted-ca-file: \"{0}/ca.crt\"\n  client-cert-auth: true\n",
      tls);
  return fmt::format(
      R"(# etcd member of head {0}. Written by symnas.
name: "{0}"
data-dir: "{1}"
listen-client-urls: "{2},https://127.0.0.1:{3}"
advertise-client-urls: "{2}"
listen-peer-urls: "https://{4}:{5}"
initial-advertise-peer-urls: "https://{4}:{5}"
initial-cluster: "{9}"
initial-cluster-state: "{10}"
initial-cluster-token: "{6}"
# A survivor's writes stall for one election when the leader dies: 0.6 s with these.
heartbeat-interval: 50
election-timeout: 500
# Group commit puts many operations into one transaction.
max-txn-ops: 2048
quota-backend-bytes: {8}
# Nanoseconds: heads notice a dead connection within a second.
grpc-keepalive-min-time: 1000000000
# History is discarded by vnfsd.
logger: "zap"
log-level: "warn"
client-transport-security:
{7}peer-transport-security:
{7})",
      member.head, places.etcd_dir, client_url(member.address), kEtcdClientPort, member.address,
      kEtcdPeerPort, member.cluster_token, transport, member.quota_bytes,
      first ? fmt::format("{}=https://{}:{}", member.head, member.address, kEtcdPeerPort)
            : fmt::to_string(fmt::join(member.initial_cluster, ",")),
      first ? "new" : "existing");
}

Result<std::string> init_cluster(const ClusterInit& request, Mode mode) {
  const HeadPlaces& places = request.places;
  SYMNAS_TRY(check_identity(request.cluster, request.head, request.address));
  SYMNAS_TRY(check_places(places));
  const Uuid uuid = Uuid::generate();
  SYMNAS_ASSIGN(const pki::Authority authority,
                pki::Authority::create(fmt::format("symnas {}", request.cluster)));
  SYMNAS_ASSIGN(const pki::Identity identity,
                authority.issue(request.head, {request.address, "127.0.0.1", request.head}));
  if (request.quota_bytes < kQuotaBytesMin || request.quota_bytes > kQuotaBytesMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cluster {}: etcd quota of {} bytes: {} to {} are possible",
                            request.cluster, request.quota_bytes, kQuotaBytesMin, kQuotaBytesMax));
  }
  Config config = config_for(request.cluster, uuid, request.head, request.address,
                             {client_url(request.address)}, places);
  config.etcd.quota_bytes = request.quota_bytes;
  const std::string tls = tls_dir(places);
  // vnfsd.toml last: it marks a complete head.
  const std::vector<NewFile> files = {
      {tls + "/ca.crt", authority.certificate_pem(), 0644},
      {tls + "/ca.key", authority.key_pem(), 0600},
      {tls + "/head.crt", identity.certificate_pem, 0644},
      {tls + "/head.key", identity.key_pem, 0600},
      {places.config_dir + "/etcd.yml",
       render_etcd_config(
           {request.head, request.address, uuid.to_string(), {}, request.quota_bytes}, places),
       0600},
      {config_path(places), render_config(config), 0600}};
  std::string what = fmt::format(
      "cluster {}: first head {} written to {} (start etcd --config-file "
      "{}/etcd.yml, then vnfsd --config {})",
      request.cluster, request.head, places.config_dir, places.config_dir, config_path(places));
  if (mode == Mode::kDryRun) return what;
  SYMNAS_TRY(instance::make_directories(places.config_dir));
  SYMNAS_TRY(make_private_directory(tls));
  SYMNAS_TRY(make_private_directory(places.etcd_dir));
  SYMNAS_TRY(write_new_files(files));
  return what;
}

Result<std::string> join_cluster(const Bundle& bundle, const HeadPlaces& places, Mode mode) {
  SYMNAS_TRY(check_identity(bundle.cluster_name, bundle.head_name, bundle.head_address));
  SYMNAS_TRY(check_places(places));
  Config config = config_for(bundle.cluster_name, bundle.cluster_uuid, bundle.head_name,
                             bundle.head_address, bundle.endpoints, places);
  config.etcd.quota_bytes = bundle.quota_bytes;
  config.admission = bundle.admission;
  const std::string tls = tls_dir(places);
  std::vector<NewFile> files = {{tls + "/ca.crt", bundle.ca_pem, 0644},
                                {tls + "/head.crt", bundle.certificate_pem, 0644},
                                {tls + "/head.key", bundle.key_pem, 0600}};
  const bool member = !bundle.initial_cluster.empty();
  if (member) {
    files.push_back(
        {places.config_dir + "/etcd.yml",
         render_etcd_config({bundle.head_name, bundle.head_address, bundle.cluster_uuid.to_string(),
                             bundle.initial_cluster, bundle.quota_bytes},
                            places),
         0600});
  }
  files.push_back({config_path(places), render_config(config), 0600});
  const std::string etcd =
      member ? fmt::format("etcd --config-file {}/etcd.yml, then ", places.config_dir) : "";
  std::string what = fmt::format("head {}: written to {} (start {}vnfsd --config {})",
                                 bundle.head_name, places.config_dir, etcd, config_path(places));
  if (mode == Mode::kDryRun) return what;
  SYMNAS_TRY(instance::make_directories(places.config_dir));
  SYMNAS_TRY(make_private_directory(tls));
  if (member) SYMNAS_TRY(make_private_directory(places.etcd_dir));
  SYMNAS_TRY(write_new_files(files));
  return what;
}

}  // namespace symnas::vnfsd::ctl
