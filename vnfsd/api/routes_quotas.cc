// Quotas of filesystems.
#include <nlohmann/json.hpp>

#include "vnfsd/api/quotas.h"
#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Result<json> list_quotas(const Call& call) { return call.backends.quotas.quotas(call.name()); }

Result<json> switch_quotas(const Call& call) {
  SYMNAS_ASSIGN(const fs::QuotaSwitch to, quota_switch(call.body));
  return done(call.backends.quotas.switch_quotas(call.name(), to, call.request.mode));
}

Result<json> set_quota(const Call& call) {
  SYMNAS_ASSIGN(const QuotaRequest r, quota_request(call.body, QuotaBody::kLimits));
  return done(call.backends.quotas.set_quota(call.name(), r, call.request.mode));
}

Result<json> remove_quota(const Call& call) {
  SYMNAS_ASSIGN(const QuotaRequest r, quota_request(call.body, QuotaBody::kSubject));
  return done(call.backends.quotas.remove_quota(call.name(), r, call.request.mode));
}

Result<json> add_tree(const Call& call) {
  SYMNAS_ASSIGN(const std::string path, quota_tree_path(call.body));
  return done(call.backends.quotas.add_quota_tree(call.name(), path, call.request.mode));
}

Result<json> remove_tree(const Call& call) {
  SYMNAS_ASSIGN(const QuotaRequest r, quota_tree_request(call.body));
  return done(call.backends.quotas.remove_quota_tree(call.name(), r, call.request.mode));
}

}  // namespace

std::vector<Route> quota_routes() {
  return {
      {"GET", "/v1/filesystems/{name}/quotas", "listQuotas", Role::kViewer, "", "Quotas", "",
       "What each user, group and directory tree uses of a filesystem, and the limits.",
       list_quotas},
      {"POST", "/v1/filesystems/{name}/quotas/state", "switchQuotas", Role::kAdmin, "QuotaState",
       "Done", "dry_run", "Begins to count usage, so that there may be limits, or stops.",
       switch_quotas},
      {"POST", "/v1/filesystems/{name}/quotas/set", "setQuota", Role::kAdmin, "QuotaEdit", "Done",
       "dry_run",
       "Sets limits of a user, a group, a directory tree or the filesystem; others stay.",
       set_quota},
      {"POST", "/v1/filesystems/{name}/quotas/remove", "removeQuota", Role::kAdmin, "QuotaSubject",
       "Done", "dry_run",
       "Takes all limits of a user, a group, a directory tree or the filesystem away.",
       remove_quota},
      {"POST", "/v1/filesystems/{name}/quotas/trees/add", "addQuotaTree", Role::kAdmin,
       "QuotaTreePath", "Done", "dry_run",
       "Makes a directory, with all that is in it, a tree: its usage is counted.", add_tree},
      {"POST", "/v1/filesystems/{name}/quotas/trees/remove", "removeQuotaTree", Role::kAdmin,
       "QuotaTree", "Done", "dry_run",
       "Makes a tree a usual directory again; its limits go, what is in it stays.", remove_tree},
  };
}

}  // namespace symnas::vnfsd::api
