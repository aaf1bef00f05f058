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
  return done(call.backends.quotas.remove_quota(call.name(), r.subject, call.request.mode));
}

}  // namespace

std::vector<Route> quota_routes() {
  return {
      {"GET", "/v1/filesystems/{name}/quotas", "listQuotas", Role::kViewer, "", "Quotas", "",
       "What each user and group uses of a filesystem, and the limits.", list_quotas},
      {"POST", "/v1/filesystems/{name}/quotas/state", "switchQuotas", Role::kAdmin, "QuotaState",
       "Done", "dry_run", "Begins to count usage, so that there may be limits, or stops.",
       switch_quotas},
      {"POST", "/v1/filesystems/{name}/quotas/set", "setQuota", Role::kAdmin, "QuotaEdit", "Done",
       "dry_run", "Sets limits of a user, a group, or the filesystem; others stay.", set_quota},
      {"POST", "/v1/filesystems/{name}/quotas/remove", "removeQuota", Role::kAdmin, "QuotaSubject",
       "Done", "dry_run", "Takes all limits of a user, a group or the filesystem away.",
       remove_quota},
  };
}

}  // namespace symnas::vnfsd::api
