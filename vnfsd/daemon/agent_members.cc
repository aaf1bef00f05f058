// Agent: inviting heads, and the members of etcd.
#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/uuid.h"
#include "common/kv/admin_keys.h"
#include "vnfsd/config/bundle.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/upkeep/members.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/pki/authority.h"
#include "vnfsd/plans/admission.h"

namespace symnas::vnfsd::daemon {
namespace {

using Role = kv::StoreMember::Role;

tl::unexpected<Error> no_membership() {
  return fail(ErrorCode::kNotSupported, "etcd: its members are not managed by this vnfsd");
}

}  // namespace

Status Agent::check_not_removed(const ClusterView& view) const {
  const std::string& name = config_.head_name;
  if (!is_admitted(view, name, config_.admission)) {
    const bool replaced = !view.removed.contains(name);
    return fail(ErrorCode::kForeign,
                fmt::format("head {}: {}, it can do nothing for the cluster any more (stop vnfsd "
                            "and reboot this head: its kernel may still hold requests for the "
                            "LUNs; symnas head invite {} on another head lets one of this name "
                            "join)",
                            name,
                            replaced ? "another machine was invited under this name"
                                     : "was removed from the cluster",
                            name));
  }
  const auto boot = view.fenced_boots.find(incarnation_);
  if (boot == view.fenced_boots.end()) return {};
  return fail(ErrorCode::kForeign,
              fmt::format("head {}: this boot of the machine was fenced as head {}, which was "
                          "removed from the cluster then (reboot it: the next boot may join)",
                          name, boot->second.record.head()));
}

// Who is admitted, and whether the boot is one that was fenced, is as it was seen.
void Agent::compare_admission(const ClusterView& view, kv::Txn& txn) const {
  const auto removed = view.removed.find(config_.head_name);
  txn.compares.push_back(admitted_as_seen(view, config_.head_name));
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kRemoved + config_.head_name,
      removed == view.removed.end() ? Revision{} : removed->second.mod_revision));
  txn.compares.push_back(kv::key_absent(kv::keys::kFencedBoots + incarnation_));
}

Result<nlohmann::json> Agent::invite_head(const std::string& name, const std::string& address,
                                          api::EtcdRole role, Mode mode) {
  SYMNAS_TRY(check_host_name("head", name));
  SYMNAS_TRY(IpAddress::parse(address));
  SYMNAS_ASSIGN(const ClusterView view, this->view());
  for (const auto& [other, head] : view.heads) {
    if (other == name || head.record.address() == address) {
      return fail(ErrorCode::kAlreadyExists,
                  fmt::format("head {}: {} {} has joined already (choose another name and address)",
                              name, other, head.record.address()));
    }
  }
  const std::string ca_key_path =
      (std::filesystem::path(config_.etcd.ca).parent_path() / "ca.key").string();
  const auto ca_key = instance::read_file(ca_key_path);
  if (!ca_key) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("head {}: {} is not on this head (invite on the head where symnas cluster "
                    "init was run)",
                    name, ca_key_path));
  }
  SYMNAS_ASSIGN(const std::string ca, instance::read_file(config_.etcd.ca));
  SYMNAS_ASSIGN(const pki::Authority authority, pki::Authority::load(ca, *ca_key));
  if (mode == Mode::kDryRun) {
    return nlohmann::json{{"done", {fmt::format("head {}: would be invited", name)}}};
  }
  const std::string admission = Uuid::generate().to_string();
  SYMNAS_TRY(commit(
      [&](const ClusterView& now) -> Result<Change> {
        if (now.heads.contains(name)) {
          return fail(ErrorCode::kAlreadyExists,
                      fmt::format("head {}: has joined meanwhile (choose another name)", name));
        }
        return plan_head_admit(name, admission, clock_.wall_ns());
      },
      mode));
  SYMNAS_ASSIGN(const pki::Identity identity, authority.issue(name, {address, "127.0.0.1", name}));
  Bundle bundle{config_.cluster_name,
                config_.cluster_uuid,
                name,
                address,
                config_.etcd.endpoints,
                {},
                ca,
                identity.certificate_pem,
                identity.key_pem,
                config_.etcd.quota_bytes,
                admission};
  if (role == api::EtcdRole::kMember) {
    SYMNAS_ASSIGN(bundle.initial_cluster, add_etcd_learner(name, address));
  }
  const std::string what = fmt::format(
      "head {}: invited{}", name, role == api::EtcdRole::kMember ? ", also as an etcd member" : "");
  log::info("{}", what);
  return nlohmann::json{{"done", {what}}, {"bundle", bundle_to_json(bundle)}};
}

// Last of an invitation: what fails before it leaves no learner behind. A learner that nobody
// starts counts for no quorum, and is taken again when its head is invited again.
Result<std::vector<std::string>> Agent::add_etcd_learner(const std::string& name,
                                                         const std::string& address) {
  if (links_.membership == nullptr) return no_membership();
  const std::string peer_url = etcd_peer_url(address);
  SYMNAS_ASSIGN(std::vector<kv::StoreMember> members, links_.membership->members());
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
    SYMNAS_ASSIGN(members, links_.membership->add_learner(peer_url));
  }
  return initial_cluster_for(members, name, peer_url);
}

Result<nlohmann::json> Agent::etcd_members() {
  if (links_.membership == nullptr) return no_membership();
  SYMNAS_ASSIGN(const std::vector<kv::StoreMember> members, links_.membership->members());
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

Result<std::string> Agent::remove_etcd_member(const std::string& name, Mode mode) {
  if (links_.membership == nullptr) return no_membership();
  SYMNAS_ASSIGN(const std::vector<kv::StoreMember> members, links_.membership->members());
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
  SYMNAS_TRY(links_.membership->remove(found->id));
  std::string what = fmt::format("etcd {}: removed (stop its etcd and delete its data)", name);
  log::info("{}", what);
  return what;
}

Result<std::optional<kv::StoreMember>> Agent::spare_member(const std::string& head) {
  if (links_.membership == nullptr) return std::nullopt;
  SYMNAS_ASSIGN(const std::vector<kv::StoreMember> members, links_.membership->members());
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.name == head; });
  if (found == members.end()) return std::nullopt;
  std::set<std::string> reachable;
  for (const kv::MemberStatus& member : store_.status({})) {
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

Result<std::string> Agent::remove_head(const std::string& name, api::Consent consent, Mode mode) {
  const TakeOff take_off = consent == api::Consent::kYes ? TakeOff::kYes : TakeOff::kNo;
  const Planner planner = [&](const ClusterView& view) {
    return plan_head_remove(view, name, take_off, clock_.wall_ns());
  };
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_TRY(planner(before));
  SYMNAS_ASSIGN(const std::optional<kv::StoreMember> member, spare_member(name));
  auto done = commit(planner, mode);
  if (!done || mode == Mode::kDryRun || !member) return done;
  const Status removed = links_.membership->remove(member->id);
  *done += removed ? fmt::format("\netcd {}: removed (stop its etcd and delete its data)", name)
                   : fmt::format("\netcd {}: is still a member: {} (symnas etcd rm {})", name,
                                 removed.error().message, name);
  return done;
}

void Agent::look_at_members() {
  if (links_.membership == nullptr) return;
  auto members = links_.membership->members();
  if (!members) return;
  for (kv::StoreMember& member : *members) {
    if (member.role != Role::kLearner || member.name.empty()) continue;
    const Status promoted = links_.membership->promote(member.id);
    if (promoted) {
      member.role = Role::kVoter;
      log::info("etcd: member {} has caught up and votes from now on", member.name);
    } else {
      log::debug("etcd: member {}: {}", member.name, promoted.error().message);
    }
  }
  const std::vector<std::string> now =
      endpoints_for(*members, config_.head_address, config_.head_name);
  if (now.empty() || std::is_permutation(now.begin(), now.end(), config_.etcd.endpoints.begin(),
                                         config_.etcd.endpoints.end()))
    return;
  log::info("etcd: its members are {} now", fmt::join(now, ", "));
  if (links_.endpoints_changed) links_.endpoints_changed(now);
}

}  // namespace symnas::vnfsd::daemon
