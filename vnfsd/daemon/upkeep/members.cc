#include "vnfsd/daemon/upkeep/members.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace symnas::vnfsd::daemon {

std::string etcd_client_url(const std::string& address) {
  return fmt::format("https://{}:2379", address);
}
std::string etcd_peer_url(const std::string& address) {
  return fmt::format("https://{}:2380", address);
}

std::vector<std::string> endpoints_for(const std::vector<kv::StoreMember>& members,
                                       const std::string& own_address,
                                       const std::string& own_name) {
  std::vector<std::pair<std::string, std::string>> voters;  // name, URL
  for (const kv::StoreMember& member : members) {
    if (member.role == kv::StoreMember::Role::kVoter && !member.client_url.empty())
      voters.emplace_back(member.name, member.client_url);
  }
  std::sort(voters.begin(), voters.end());
  const auto after =
      std::find_if(voters.begin(), voters.end(), [&](const auto& v) { return v.first > own_name; });
  std::rotate(voters.begin(), after, voters.end());
  std::stable_partition(voters.begin(), voters.end(), [&](const auto& voter) {
    return voter.second == etcd_client_url(own_address);
  });
  std::vector<std::string> out;
  for (auto& [name, url] : voters) out.push_back(std::move(url));
  return out;
}

Result<std::vector<std::string>> initial_cluster_for(const std::vector<kv::StoreMember>& members,
                                                     const std::string& name,
                                                     const std::string& peer_url) {
  std::vector<std::string> out;
  for (const kv::StoreMember& member : members) {
    const bool mine = member.peer_url == peer_url;
    if (!mine && member.name.empty()) {
      return fail(ErrorCode::kBusy,
                  fmt::format("etcd: the member at {} was invited and never started (start it, or "
                              "symnas etcd rm {})",
                              member.peer_url, member.peer_url));
    }
    out.push_back(fmt::format("{}={}", mine ? name : member.name, member.peer_url));
  }
  return out;
}

}  // namespace symnas::vnfsd::daemon
