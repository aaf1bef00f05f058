#include "fsal_cluster/plugin/recorded_calls.h"

#include <cstring>
#include <exception>
#include <string>

#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/schema/handle.h"

namespace symnas::plugin {
namespace {

// The client's address without the port, which changes with the connection. Empty: an address of
// another family.
std::string client_of(const sockaddr_t& address) {
  std::string bytes(10, '\0');
  if (address.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
    bytes.append(2, '\xff').append(reinterpret_cast<const char*>(&v4->sin_addr), 4);
    return bytes;
  }
  if (address.ss_family != AF_INET6) return {};
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
  return std::string(reinterpret_cast<const char*>(&v6), sizeof(v6));
}

std::uint64_t mix(std::uint64_t sum, std::uint32_t high, std::uint32_t low) {
  sum ^= std::uint64_t{high} << 32 | low;
  sum *= 0x9e3779b97f4a7c15;
  return sum ^ sum >> 32;
}

// REQUIRES: op_ctx is that of the request, after its export and its caller are known.
std::optional<fs::Call> call_of(const svc_req& request, std::uint32_t operation) {
  if (request.rq_cksum == 0 || op_ctx->caller_addr == nullptr) return std::nullopt;
  fs::Call call;
  call.client = client_of(*op_ctx->caller_addr);
  if (call.client.empty()) return std::nullopt;
  call.xid = request.rq_msg.rm_xid;
  call.operation = operation;
  const user_cred& caller = op_ctx->original_creds;
  call.checksum = mix(request.rq_cksum, request.rq_msg.cb_vers, request.rq_msg.cb_proc);
  call.checksum = mix(call.checksum, caller.caller_uid, caller.caller_gid);
  return call;
}

bool is_remembered(const svc_req& request) {
  if (request.rq_msg.cb_prog != NFS_PROGRAM) return false;  // NFSACL has a procedure 2, too
  switch (request.rq_msg.cb_proc) {
    case NFSPROC3_SETATTR:
    case NFSPROC3_CREATE:
    case NFSPROC3_MKDIR:
    case NFSPROC3_SYMLINK:
    case NFSPROC3_MKNOD:
    case NFSPROC3_REMOVE:
    case NFSPROC3_RMDIR:
    case NFSPROC3_RENAME:
    case NFSPROC3_LINK: return true;
    default: return false;
  }
}

bool is_remembered(const compound_data_t& compound) {
  switch (compound.opcode) {
    case NFS4_OP_CREATE:
    case NFS4_OP_REMOVE:
    case NFS4_OP_RENAME:
    case NFS4_OP_LINK:
    case NFS4_OP_SETATTR: return compound.minorversion == 0;
    default: return false;
  }
}

// The export of the current request, below ganesha's own layers; nullptr: it belongs to another
// FSAL (the pseudo filesystem).
Export* own_export() {
  for (fsal_export* e = op_ctx->fsal_export; e != nullptr; e = e->sub_export) {
    if (e->fsal != nullptr && std::strcmp(e->fsal->name, "CLUSTER") == 0) return export_of(e);
  }
  return nullptr;
}

bool tell(const fs::Handle& object, gsh_buffdesc* handle) {
  const bool named = object.ino != Ino{0};
  const std::string wire = named ? fs::encode_handle(object) : std::string();
  if (wire.size() > handle->len) return false;
  std::memcpy(handle->addr, wire.data(), wire.size());
  handle->len = wire.size();
  return true;
}

// Runs in the worker of the request. It waits as long as etcd does not answer, without regard to
// the admission: "try later" would bring the request back under another xid.
bool done_before(svc_req* request, std::uint32_t operation, gsh_buffdesc* handle) noexcept {
  try {
    const Export* exported = own_export();
    const auto call = call_of(*request, operation);
    if (exported == nullptr || !call) return false;
    const auto known = exported->mount->done_before(*call);
    if (!known) {
      Instance::get().hold_if_ending(known.error());
      LogCrit(COMPONENT_FSAL, "CLUSTER: cannot look for an earlier answer to xid %u: %s", call->xid,
              known.error().message.c_str());
      return false;
    }
    if (!*known) return false;
    LogEvent(COMPONENT_FSAL, "CLUSTER: xid %u of %s was carried out by a former instance",
             call->xid, op_ctx->client == nullptr ? "?" : op_ctx->client->hostaddr_str);
    return tell(**known, handle);
  } catch (const std::exception& e) {
    LogCrit(COMPONENT_FSAL, "CLUSTER: exception while looking for an answer: %s", e.what());
    return false;
  }
}

}  // namespace

std::optional<fs::Call> this_call() {
  if (op_ctx == nullptr || op_ctx->nfs_reqdata == nullptr) return std::nullopt;
  if (op_ctx->req_type != NFS_REQUEST) return std::nullopt;
  const nfs_request_t& request = *op_ctx->nfs_reqdata;
  if (op_ctx->nfs_vers == NFS_V3)
    return is_remembered(request.svc) ? call_of(request.svc, 0) : std::nullopt;
  const auto* compound = static_cast<const compound_data_t*>(request.proc_data);
  if (op_ctx->nfs_vers != NFS_V4 || compound == nullptr || !is_remembered(*compound))
    return std::nullopt;
  return call_of(request.svc, compound->oppos);
}

void answer_former_calls() { nfs_done_before = done_before; }

}  // namespace symnas::plugin
