#include "vnfsd/daemon/admin/members_admin.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/daemon/upkeep/members.h"

namespace symnas::vnfsd::daemon {
namespace {

using Role = kv::StoreMember::Role;

tl::unexpected<Error> no_membership() {
  return fail(ErrorCode::kNotSupported, "etcd: its members are not managed by this vnfsd");
}

}  // namespace

// Last of an invitation: what fails before it leaves no learner behind. A learner that nobody
// starts counts for no quorum, and is taken again when its head is invited again.
Result<std::vector<std::string>> MembersAdmin::add_etcd_learner(const std::string& name,
                                                                const std::string& address) {
  if (membership_ == nullptr) return no_membership();
  const std::string peer_url = etcd_peer_url(address);
  SYMNAS_ASSIGN(std::vector<kv::StoreMember> members, membership_->members());
  const auto mine = std::find_if(members.begin(), members.end(), [&](const auto& member) {
    return member.peer_url == peer_url || member.name == name;
  });
  if (mine != members.end() && !mine->name.empty()) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("etcd: member {} at {} exists (symnas etcd rm {} if its data is lost)",
                            mine->name, mine->peer_url, mine->name));
  }
  if (mine == members.end()) {
    SYMNAS_TRY(initial_cluster_for(members, name, peer_url));
    SYMNAS_ASSIGN(members, membership_->add_learner(peer_url));
  }
  return initial_cluster_for(members, name, peer_url);
}

Result<nlohmann::json> MembersAdmin::etcd_members() {
  if (membership_ == nullptr) return no_membership();
  SYMNAS_ASSIGN(const std::vector<kv::StoreMember> members, membership_->members());
  nlohmann::json list = nlohmann::json::array();
  for (const kv::StoreMember& member : members) {
    list.push_back({{"name", member.name},
                    {"id", fmt::format("{:x}", member.id)},
                    {"peer_url", member.peer_url},
                    {"client_url", member.client_url},
                    {"role", member.role == Role::kLearner ? "learner" : "voter"}});
  }
  return nlohmann::json{{"members", list}};
}

Result<std::string> MembersAdmin::remove_etcd_member(const std::string& name, Mode mode) {
  if (membership_ == nullptr) return no_membership();
  SYMNAS_ASSIGN(const std::vector<kv::StoreMember> members, membership_->members());
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& member) {
    return member.name == name || fmt::format("{:x}", member.id) == name;
  });
  if (found == members.end()) return no_such_object("etcd", name);
  const auto voters = std::count_if(members.begin(), members.end(),
                                    [](const auto& member) { return member.role == Role::kVoter; });
  if (voters == 1 && found->role == Role::kVoter) {
    return fail(ErrorCode::kBusy,
                fmt::format("etcd {}: the only member: everything is in it (add others first: "
                            "symnas head invite --etcd-member)",
                            name));
  }
  if (mode == Mode::kDryRun) return fmt::format("etcd {}: would be removed", name);
  SYMNAS_TRY(membership_->remove(found->id));
  std::string what = fmt::format("etcd {}: removed (stop its etcd and delete its data)", name);
  log::info("{}", what);
  return what;
}

Result<std::optional<kv::StoreMember>> MembersAdmin::spare_member(const std::string& head) {
  if (membership_ == nullptr) return std::nullopt;
  SYMNAS_ASSIGN(const std::vector<kv::StoreMember> members, membership_->members());
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.name == head; });
  if (found == members.end()) return std::nullopt;
  std::set<std::string> reachable;
  for (const kv::MemberStatus& member : head_.store.status({})) {
    if (member.reachable) reachable.insert(member.endpoint);
  }
  std::size_t others = 0;
  std::size_t answer = 0;
  for (const kv::StoreMember& member : members) {
    if (member.role != Role::kVoter || member.name == head) continue;
    ++others;
    if (reachable.contains(member.client_url)) ++answer;
  }
  if (found->role == Role::kVoter && (others == 0 || answer < others / 2 + 1)) {
    return fail(ErrorCode::kBusy,
                fmt::format("head {}: its etcd member is needed: only {} of the {} others answer, "
                            "so they would have no quorum (bring them back, or add one: symnas "
                            "head invite --etcd-member)",
                            head, answer, others));
  }
  return *found;
}

}  // namespace symnas::vnfsd::daemon
