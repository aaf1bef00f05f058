#include "vnfsd/instance/server_identity.h"

#include <fmt/core.h>

namespace symnas::vnfsd::instance {
namespace {

constexpr std::uint32_t kNoEpoch = 0x80000000;  // no epoch of a cluster comes so far

}  // namespace

std::string server_owner(const Uuid& cluster, const std::string& vnfs) {
  return fmt::format("{}.{}", vnfs, cluster.to_string());
}

std::string server_scope(const Uuid& cluster, const records::VnfsRecord& vnfs) {
  return vnfs.scope_names_cluster() ? server_owner(cluster, vnfs.name()) : vnfs.name();
}

std::uint32_t server_id(const Uuid& cluster, Epoch epoch) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::uint8_t byte : cluster.bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return kNoEpoch | static_cast<std::uint32_t>(epoch.value() ^ hash ^ (hash >> 32));
}

}  // namespace symnas::vnfsd::instance
