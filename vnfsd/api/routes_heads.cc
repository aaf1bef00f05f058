// Heads, networks, etcd's members, and what the whole cluster has.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/body.h"
#include "vnfsd/api/documents.h"
#include "vnfsd/api/drain.h"
#include "vnfsd/api/routes.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Result<json> list_heads(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, call.backends.records.view());
  return json{{"heads", heads_document(view)}};
}

Result<json> invite(const Call& call) {
  SYMNAS_TRY(check_local(call.request));
  SYMNAS_ASSIGN(const InviteRequest r, invite_request(call.body));
  return call.backends.heads.invite_head(r.name, r.address, r.etcd, call.request.mode);
}

// Its certificates of the API carry its name (symnas api on, api cert issue --listener).
Result<json> remove_head(const Call& call) {
  SYMNAS_ASSIGN(json reply, done(call.backends.heads.remove_head(call.name(), call.request.consent,
                                                                 call.request.mode)));
  const auto revoked =
      call.access.revoke_certificate(call.name(), call.request.caller, call.request.mode);
  if (revoked) {
    reply["done"].push_back(*revoked);
  } else if (revoked.error().code != ErrorCode::kNotFound) {  // the head is gone nevertheless
    reply["done"].push_back(
        fmt::format("api certificate {}: not revoked: {} (symnas api cert revoke {})", call.name(),
                    revoked.error().message, call.name()));
  }
  return reply;
}

Result<json> fence(const Call& call) {
  return done(call.backends.heads.fence_head(call.name(), call.request.mode, call.progress));
}

Result<json> drain(const Call& call) {
  SYMNAS_ASSIGN(json reply, change_records(call, [&](const ClusterView& v) -> Result<Change> {
                  SYMNAS_TRY(check_builtin_decides(v, "head drain", kDrainInstead));
                  return plan_head_drain(v, call.name(), now_ns());
                }));
  if (!call.progress.is_watched()) return reply;
  SYMNAS_TRY(follow_drain(call.backends.records, call.name(), call.progress));
  reply["done"].push_back("head " + call.name() + ": has no VNFS any more");
  return reply;
}

Result<json> undrain(const Call& call) {
  return change_records(call,
                        [&](const ClusterView& v) { return plan_head_undrain(v, call.name()); });
}

Result<json> list_members(const Call& call) { return call.backends.members.etcd_members(); }

Result<json> remove_member(const Call& call) {
  return done(call.backends.members.remove_etcd_member(call.name(), call.request.mode));
}

Result<json> list_networks(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, call.backends.records.view());
  return json{{"networks", networks_document(view)}};
}

Result<json> create_network(const Call& call) {
  SYMNAS_ASSIGN(const NetworkRequest r, network_request(call.body));
  return change_records(call, [&](const ClusterView& v) { return plan_network_create(v, r); });
}

Result<json> remove_network(const Call& call) {
  return change_records(call,
                        [&](const ClusterView& v) { return plan_network_remove(v, call.name()); });
}

Result<json> set_decider(const Call& call) {
  SYMNAS_ASSIGN(const records::Decider wanted, decider_request(call.body));
  return change_records(call, [&](const ClusterView& v) { return plan_decider(v, wanted); });
}

Result<json> raise_level(const Call& call) { return change_records(call, plan_level_raise); }

}  // namespace

std::vector<Route> head_routes() {
  return {
      {"GET", "/v1/heads", "listHeads", Role::kViewer, "", "Heads", "", "The heads.", list_heads},
      {"POST", "/v1/heads", "inviteHead", Role::kAdmin, "Invitation", "Invited", "dry_run",
       "Makes the bundle with which a head joins; it holds a private key. Not over the network.",
       invite},
      {"DELETE", "/v1/heads/{name}", "removeHead", Role::kAdmin, "", "Done", "dry_run yes",
       "Removes a head that is out of service, and its etcd from the members.", remove_head},
      {"POST", "/v1/heads/{name}/fence", "fenceHead", Role::kAdmin, "", "Done", "dry_run async",
       "Has a head cut off; answers when it is proved that it can do nothing more: minutes.",
       fence},
      {"POST", "/v1/heads/{name}/drain", "drainHead", Role::kOperator, "", "Done", "dry_run async",
       "Records that the head's VNFSs go elsewhere; with async the job ends when they have gone.",
       drain},
      {"POST", "/v1/heads/{name}/undrain", "undrainHead", Role::kOperator, "", "Done", "dry_run",
       "Takes a drain back.", undrain},
      {"GET", "/v1/members", "listMembers", Role::kViewer, "", "Members", "",
       "The members of etcd.", list_members},
      {"DELETE", "/v1/members/{name}", "removeMember", Role::kAdmin, "", "Done", "dry_run",
       "Removes a member of etcd, by its name or id.", remove_member},
      {"GET", "/v1/networks", "listNetworks", Role::kViewer, "", "Networks", "", "The networks.",
       list_networks},
      {"POST", "/v1/networks", "createNetwork", Role::kAdmin, "Network", "Done", "dry_run",
       "Makes a network.", create_network},
      {"DELETE", "/v1/networks/{name}", "removeNetwork", Role::kAdmin, "", "Done", "dry_run",
       "Removes a network that no VNFS uses.", remove_network},
      {"POST", "/v1/decider", "setDecider", Role::kAdmin, "Decider", "Done", "dry_run",
       "Says who decides where VNFSs run. No VNFS moves by it.", set_decider},
      {"POST", "/v1/level", "raiseLevel", Role::kAdmin, "", "Done", "dry_run",
       "Raises the cluster's level, after an upgrade of all heads.", raise_level},
  };
}

}  // namespace symnas::vnfsd::api
