// Who may use the API over the network, and what administrators did.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/access.h"
#include "vnfsd/api/body.h"
#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Result<json> list_tokens(const Call& call) { return call.access.tokens(); }

Result<json> create_token(const Call& call) {
  SYMNAS_TRY(check_local(call.request));
  SYMNAS_ASSIGN(const TokenRequest r, token_request(call.body));
  return call.access.create_token(r, call.request.caller, call.request.mode);
}

// Taking rights away is no danger from anywhere.
Result<json> revoke_token(const Call& call) {
  return done(call.access.revoke_token(call.name(), call.request.mode));
}

Result<json> switch_on(const Call& call) {
  SYMNAS_TRY(check_local(call.request));
  SYMNAS_ASSIGN(const std::vector<std::string> names, listener_request(call.body));
  return done(call.access.switch_on(names, call.request.caller, call.request.mode));
}

Result<json> list_certificates(const Call& call) { return call.access.certificates(); }

Result<json> issue_certificate(const Call& call) {
  SYMNAS_TRY(check_local(call.request));
  SYMNAS_ASSIGN(const CertificateRequest r, certificate_request(call.body));
  return call.access.issue(r, call.request.caller, call.request.mode);
}

Result<json> revoke_certificate(const Call& call) {
  return done(call.access.revoke_certificate(call.name(), call.request.caller, call.request.mode));
}

Result<json> audit(const Call& call) { return call.access.audit(call.request.after); }

}  // namespace

Status check_local(const ApiRequest& request) {
  if (!request.caller.over_network()) return {};
  return fail(ErrorCode::kPermission,
              fmt::format("API: {} {}: gives out what opens the cluster: only for root on a head, "
                          "not over the network",
                          request.method, request.path));
}

std::vector<Route> access_routes() {
  return {
      {"GET", "/v1/api-tokens", "listTokens", Role::kAdmin, "", "Tokens", "",
       "The tokens of the API, without their secrets.", list_tokens},
      {"POST", "/v1/api-tokens", "createToken", Role::kAdmin, "Token", "TokenMade", "dry_run",
       "Makes a token, which is told this once. Not over the network.", create_token},
      {"DELETE", "/v1/api-tokens/{name}", "revokeToken", Role::kAdmin, "", "Done", "dry_run",
       "Revokes a token: from then on no head accepts it.", revoke_token},
      {"POST", "/v1/api-listener", "switchOnListener", Role::kAdmin, "ListenerRequest", "Done",
       "dry_run",
       "Makes the API's authority, and a certificate for this head's listener. Not over the "
       "network.",
       switch_on},
      {"GET", "/v1/api-certificates", "listCertificates", Role::kAdmin, "", "Certificates", "",
       "The certificates of the API's authority.", list_certificates},
      {"POST", "/v1/api-certificates", "issueCertificate", Role::kAdmin, "CertificateRequest",
       "CertificateIssued", "dry_run",
       "Signs a request, on the head that has the authority's key. Not over the network.",
       issue_certificate},
      {"DELETE", "/v1/api-certificates/{name}", "revokeCertificate", Role::kAdmin, "", "Done",
       "dry_run", "Revokes the certificate with that serial, or all of that name.",
       revoke_certificate},
      {"GET", "/v1/audit", "listAudit", Role::kAdmin, "", "Audit", "after",
       "What administrators did and were refused, in order.", audit},
  };
}

}  // namespace symnas::vnfsd::api
