#include "fsal_cluster/plugin/kerberos.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include "common/base/ip_text.h"
#include "common/base/keyed_repeats.h"
#include "common/base/log.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/plugin/limits.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
extern "C" {
#include <rpc/gss_internal.h>
}
#pragma GCC diagnostic pop

namespace symnas::plugin {
namespace {

// A client tries again and again: one line a minute for each, and of so many clients.
class RefusedClients {
 public:
  void note(const std::string& client, const std::string& why) {
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    const MutexLock lock(mutex_);
    if (!lines_.is_due(client, now.count())) return;
    log::warn(
        "Kerberos: client {} is refused: {:?} (its clock, its ticket's key and this VNFS's keytab "
        "have to agree: symnas vnfs keytab show)",
        client, why);
  }

 private:
  Mutex mutex_;
  log::KeyedRepeats<std::string> lines_ GUARDED_BY(mutex_){kRefusedClientPauseNs,
                                                           kRefusedClientsTold};
};

std::string address_of(SVCXPRT* transport) {
  const sockaddr_storage& address = *svc_getrpccaller(transport);
  if (address.ss_family == AF_INET6)
    return ip_text(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  return ip_text(ipv4_mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr));
}

void refused(SVCXPRT* transport, const char* why) {
  static RefusedClients clients;
  clients.note(address_of(transport), why);
}

std::string name_in(const svc_rpc_gss_data* context) {
  if (context == nullptr || context->cname.value == nullptr) return "";
  return {static_cast<const char*>(context->cname.value), context->cname.length};
}

}  // namespace

std::string principal_of(const nfs_client_id_t& client) {
  const nfs_client_cred_t& credential = client.cid_credential;
  if (credential.flavor != RPCSEC_GSS) return "";
  return name_in(credential.auth_union.auth_gss.gd);
}

std::string principal_of_caller() {
  if (op_ctx == nullptr || op_ctx->nfs_reqdata == nullptr) return "";
  const svc_req& request = op_ctx->nfs_reqdata->svc;
  if (request.rq_msg.cb_cred.oa_flavor != RPCSEC_GSS || request.rq_auth == nullptr) return "";
  return name_in(SVCAUTH_PRIVATE(request.rq_auth));
}

Status use_kerberos(const std::optional<InstanceFile::Kerberos>& kerberos) {
  const bool usable = kerberos && ::access(kerberos->keytab.c_str(), R_OK) == 0;
  svcauth_gss_refused = refused;
  nfs_param.krb5_param.active_krb5 = usable;  // what MOUNT names as flavors
  svcauth_gss_set_status(usable);
  if (usable) log::info("Kerberos: taken, with keys of realm {}", kerberos->realm);
  if (usable || !kerberos) return {};
  return fail(ErrorCode::kNotFound,
              "Kerberos: its keytab cannot be opened on this head: clients with Kerberos are "
              "refused, all others are served (vnfsd's log says why)");
}

}  // namespace symnas::plugin
