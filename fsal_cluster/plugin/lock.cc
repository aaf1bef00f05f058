// Byte-range locks: ganesha's owner becomes an identity that outlives this process.
#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>
#include <optional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/env/clock.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/kerberos.h"
#include "fsal_cluster/plugin/lock_terms.h"
#include "fsal_cluster/plugin/milestones.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/plugin/waiters.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/nfs4_client.h"
#include "fsal_cluster/state/nlm_client.h"

namespace symnas::plugin {
namespace {

// Ganesha's sockets are dual-stack.
std::string text_of(const sockaddr_t& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET, &v6.s6_addr[12], text, sizeof text);
    } else {
      ::inet_ntop(AF_INET6, &v6, text, sizeof text);
    }
  }
  return text;
}

std::uint16_t port_of(const sockaddr_t& address) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// Ganesha: length 0 = to the end of the file.
std::uint64_t last_byte(const fsal_lock_param_t& lock) {
  if (lock.lock_length == 0) return UINT64_MAX;
  const std::uint64_t end = lock.lock_start + (lock.lock_length - 1);
  return end < lock.lock_start ? UINT64_MAX : end;
}

// The life in which a client locks.
fs::ClientLife life_of(const state_owner_t* owner, const state_t* state) {
  fs::ClientLife life;
  if (owner->so_type != STATE_LOCK_OWNER_NLM) {
    const nfs_client_id_t* client = owner->so_owner.so_nfs4_owner.so_clientrec;
    life.verifier.assign(client->cid_incoming_verifier, sizeof client->cid_incoming_verifier);
  } else if (state != nullptr) {
    life.nsm_state = static_cast<std::int32_t>(state->state_seqid);
  }
  return life;
}

void report_conflict(const fs::LockConflict& conflict, fsal_lock_param_t* out) {
  if (out == nullptr) return;
  *out = lock_param_of(conflict.range);
}

// ganesha leaves lock_reclaim uninitialised for internal calls: it is read as a byte, and only for
// LOCK.
bool wants_reclaim(const fsal_lock_param_t& request) {
  unsigned char raw = 0;
  std::memcpy(&raw, &request.lock_reclaim, sizeof(raw));
  return raw == 1;
}

fsal_status_t conflict_status() { return fsalstat(ERR_FSAL_ACCESS, EACCES); }

fsal_status_t test(const Object* object, const fs::LockOwner& owner, const fs::LockRange& range,
                   fsal_lock_param_t* conflicting) {
  return guarded([&] {
    const auto answer = object->mount->locks().test(object->handle.ino, owner, range);
    if (answer.granted) return ok_status();
    report_conflict(answer.conflict, conflicting);
    return conflict_status();
  });
}

// Whether this thread works on a LOCK that an NLM client has sent from a port below 1024.
bool serves_trusted_nlm_lock() {
  if (op_ctx == nullptr || op_ctx->nfs_reqdata == nullptr || op_ctx->caller_addr == nullptr)
    return false;
  const auto& message = op_ctx->nfs_reqdata->svc.rq_msg;
  return message.cb_prog == NLMPROG && port_of(*op_ctx->caller_addr) < IPPORT_RESERVED;
}

fsal_status_t lock(const Object* object, const fs::LockOwner& owner, const fs::LockRange& range,
                   bool is_reclaim, const fs::ClientLife& life, fsal_lock_param_t* conflicting) {
  return guarded([&] {
    const auto answer =
        object->mount->locks().lock(object->handle.ino, owner, range, is_reclaim, life);
    // More locks than an owner may hold: NLM4_DENIED_NOLOCKS, which Linux makes ENOLCK. No error of
    // NFSv4 becomes that; NFS4ERR_NOSPC is "a limit of the server's file system" (RFC
    // 8881 15.1.4.7).
    if (!answer && answer.error().code == ErrorCode::kTooLarge)
      return fsalstat(ERR_FSAL_NOSPC, ENOLCK);
    if (!answer) return failed(answer);
    if (answer->granted) {
      if (is_reclaim) note_reclaim();
      if (!is_reclaim && life.nsm_state != 0 && serves_trusted_nlm_lock())
        Instance::get().note_nlm_lock(owner, life.nsm_state);
      return ok_status();
    }
    report_conflict(answer->conflict, conflicting);
    return conflict_status();
  });
}

// Whether this thread works on an NLM client's UNLOCK, which the client repeats if it is told to.
bool serves_nlm_unlock() {
  if (op_ctx == nullptr || op_ctx->nfs_reqdata == nullptr) return false;
  const auto& message = op_ctx->nfs_reqdata->svc.rq_msg;
  return message.cb_prog == NLMPROG &&
         (message.cb_proc == NLMPROC4_UNLOCK || message.cb_proc == NLMPROC4_UNLOCK_MSG);
}

// ganesha has dropped its own range before it calls this. What cannot be recorded now is recorded
// later. But if this process ends before that, an NLM client's lock would stay for ever: so such a
// client is told to ask again. Of an NFSv4 client the next instance revokes what it does not claim.
fsal_status_t unlock(const Object* object, const fs::LockOwner& owner, const fs::LockRange& range) {
  return contained([&] {
    const Admission::Permit permit(Instance::get().admission());
    const auto when = permit ? fs::FileLocks::Record::kNow : fs::FileLocks::Record::kLater;
    const Status recorded =
        object->mount->locks().unlock(object->handle.ino, owner, range.start, range.end, when);
    if (!recorded) Instance::get().hold_if_ending(recorded.error());
    if ((!recorded || !permit) && serves_nlm_unlock()) return fsalstat(ERR_FSAL_DELAY, EAGAIN);
    return ok_status();
  });
}

fsal_status_t lock_op2(fsal_obj_handle* handle, state_t* state, void* owner_pointer,
                       fsal_lock_op_t op, fsal_lock_param_t* request,
                       fsal_lock_param_t* conflicting) {
  return contained([&] {
    const Object* object = object_of(handle);
    const auto* asked_for = static_cast<const state_owner_t*>(owner_pointer);
    const fs::LockOwner owner = identity(asked_for);
    const fs::LockRange range = range_of(*request);
    if (conflicting != nullptr) {
      *conflicting = {};
      conflicting->lock_type = FSAL_NO_LOCK;
    }
    switch (op) {
      case FSAL_OP_LOCKT: return test(object, owner, range, conflicting);
      case FSAL_OP_LOCK:
      case FSAL_OP_LOCKB:
        return lock(object, owner, range, wants_reclaim(*request), life_of(asked_for, state),
                    conflicting);
      case FSAL_OP_UNLOCK: return unlock(object, owner, range);
      case FSAL_OP_CANCEL: return ok_status();  // blocking locks are polled: nothing waits here
    }
    return fsalstat(ERR_FSAL_INVAL, EINVAL);
  });
}

// A client has lost its locks. Called on an RPC worker, which answers the client when the release
// is recorded.
void nlm_client_gone(const char* address, bool but_state, std::int32_t state) {
  (void)contained([&] {
    std::optional<std::int32_t> living;
    if (but_state) living = state;
    Instance::get().forget_nlm_client(address, living);
    return ok_status();
  });
}

// Of the client that sends the request at hand: who confirms a client id is the principal that has
// asked for it (ganesha compares them), and a client sends RECLAIM_COMPLETE as the same one.
std::string identity_of_caller(const char* client, int length) {
  return fs::identity_of(
      fs::Nfs4Client{{client, static_cast<std::size_t>(length)}, principal_of_caller()});
}

// As nlm_client_gone().
void nfs4_client_back(const char* client, int length, const char* verifier) {
  (void)contained([&] {
    Instance::get().forget_former_lives(identity_of_caller(client, length),
                                        std::string(verifier, NFS4_VERIFIER_SIZE));
    return ok_status();
  });
}

// As nlm_client_gone().
void nfs4_client_reclaimed(const char* client, int length) {
  (void)contained([&] {
    Instance::get().forget_unclaimed(identity_of_caller(client, length));
    return ok_status();
  });
}

void nfs4_client_ready(nfs_client_id_t* client) {
  (void)contained([&] {
    Waiters::get().client_is_ready(*client);
    return ok_status();
  });
}

// The arguments of release_locks(), for ganesha's callbacks in C.
struct Releasing {
  const fs::LockOwner* owner;
  const std::function<bool()>* begin;
  const std::function<void()>* end;
};

bool begin_release(void* arg) {
  bool begins = false;
  (void)contained([&] {
    begins = (*static_cast<Releasing*>(arg)->begin)();
    return ok_status();
  });
  return begins;
}

bool is_holder(const state_owner_t* owner, void* arg) {
  return identity(owner) == *static_cast<Releasing*>(arg)->owner;
}

void end_release(void* arg) {
  (void)contained([&] {
    (*static_cast<Releasing*>(arg)->end)();
    return ok_status();
  });
}

// An export of the filesystem, referenced; nullptr: none is there (yet).
gsh_export* export_of_filesystem(FsId fs) {
  for (const std::uint16_t id : Instance::get().exports_of(fs)) {
    gsh_export* found = get_gsh_export(id);
    if (found != nullptr) return found;
  }
  return nullptr;
}

// When it is asked to end, ganesha would unlock everything that it knows of, without telling its
// clients.
void end_with_locks() {
  log::warn("this instance is asked to end, and does so at once: its locks stay recorded");
  log::flush();
  ::_exit(1);
}

// In seconds, as ganesha's time_mono() counts.
time_t renewable_since() {
  const time_t now = env::system_clock().mono_ns() / 1'000'000'000;
  if (!Instance::started()) return now;
  const auto open_ns = Instance::get().open_for_ns();
  if (!open_ns) return 0;
  return now - std::min<time_t>(*open_ns / 1'000'000'000, now - 1);
}

}  // namespace

fs::LockOwner identity(const state_owner_t* owner) {
  fs::LockOwner id;
  id.owner.assign(owner->so_owner_val, static_cast<std::size_t>(owner->so_owner_len));
  if (owner->so_type == STATE_LOCK_OWNER_NLM) {
    id.protocol = fs::LockProtocol::kNlm;
    const state_nlm_owner_t& nlm = owner->so_owner.so_nlm_owner;
    const state_nlm_client_t& client = *nlm.so_client;
    // The core knows a client by its address, an IPv4-mapped one as IPv4.
    id.client = fs::identity_of(
        {client.slc_nsm_client->ssc_nlm_caller_name, text_of(client.slc_server_addr),
         std::string(client.slc_nlm_caller_name,
                     static_cast<std::size_t>(client.slc_nlm_caller_name_len))});
    std::string svid;
    append_be32(svid, static_cast<std::uint32_t>(nlm.so_nlm_svid));
    id.owner = svid + id.owner;
    return id;
  }
  id.client = identity(*owner->so_owner.so_nfs4_owner.so_clientrec);
  return id;
}

std::string identity(const nfs_client_id_t& client) {
  const nfs_client_record_t& record = *client.cid_client_record;
  return fs::identity_of(
      fs::Nfs4Client{{record.cr_client_val, static_cast<std::size_t>(record.cr_client_val_len)},
                     principal_of(client)});
}

fs::LockRange range_of(const fsal_lock_param_t& lock) {
  return {lock.lock_start, last_byte(lock),
          lock.lock_type == FSAL_LOCK_W ? fs::LockMode::kExclusive : fs::LockMode::kShared};
}

fsal_lock_param_t lock_param_of(const fs::LockRange& range) {
  fsal_lock_param_t out{};
  out.lock_sle_type = FSAL_POSIX_LOCK;
  out.lock_type = range.mode == fs::LockMode::kExclusive ? FSAL_LOCK_W : FSAL_LOCK_R;
  out.lock_start = range.start;
  out.lock_length = range.end == UINT64_MAX ? 0 : range.end - range.start + 1;
  return out;
}

Status release_locks(const fs::Handle& file, const fs::LockOwner& owner,
                     const std::function<bool()>& begin, const std::function<void()>& end) {
  gsh_export* exported = export_of_filesystem(file.fs);
  if (exported == nullptr && !Instance::get().has_read_exports())
    return fail(ErrorCode::kUnavailable, "no export of its filesystem is served yet");
  if (exported == nullptr) {
    if (begin()) end();  // its exports were removed, and ganesha's lists with them
    return {};
  }
  req_op_context context;
  init_op_context_simple(&context, exported, exported->fsal_export);
  std::string wire = fs::encode_handle(file);
  gsh_buffdesc key{wire.data(), wire.size()};
  fsal_obj_handle* object = nullptr;
  const fsal_status_t found =
      exported->fsal_export->exp_ops.create_handle(exported->fsal_export, &key, &object, nullptr);
  const bool is_file = found.major == ERR_FSAL_NO_ERROR && object->type == REGULAR_FILE;
  if (is_file) {
    Releasing releasing{&owner, &begin, &end};
    state_release_locks(object, begin_release, is_holder, end_release, &releasing);
  } else if (found.major == ERR_FSAL_STALE && begin()) {
    end();  // no client can lock a file that is gone
  }
  if (object != nullptr) object->obj_ops->put_ref(object);
  release_op_context();  // gives the export back
  if (is_file || found.major == ERR_FSAL_STALE) return {};
  return fail(ErrorCode::kUnavailable, "its file cannot be looked at now");
}

void set_lock_operations(fsal_obj_ops& ops) {
  ops.lock_op2 = lock_op2;
  nfs_nlm_client_gone = nlm_client_gone;
  nfs4_client_is_back = nfs4_client_back;
  nfs4_client_has_reclaimed = nfs4_client_reclaimed;
  nfs4_client_is_ready = nfs4_client_ready;
  nfs4_renewable_since = renewable_since;
  nfs_before_halt = end_with_locks;
  record_waits();
}

}  // namespace symnas::plugin
