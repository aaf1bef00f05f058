#include "tests/client/nfs3_client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "tests/client/nfs3_wire.h"

namespace symnas::nfs3 {
namespace {

constexpr int kNfsPort = 2049;
constexpr int kNfsProgram = 100003;
constexpr int kMountProgram = 100005;
constexpr int kVersion = 3;
constexpr int kPollStepMs = 100;
constexpr int kReconnectPauseUs = 2000;
// When a SYN is lost while an address moves, TCP repeats it only after 1, 3, 7 s: connect again
// instead.
constexpr int kConnectTryMs = 500;

using Clock = std::chrono::steady_clock;

int ms_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

Clock::time_point after_ms(int ms) { return Clock::now() + std::chrono::milliseconds(ms); }

}  // namespace

std::optional<Url> Url::parse(std::string_view text) {
  constexpr std::string_view kScheme = "nfs://";
  if (!text.starts_with(kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  return Url{std::string(text.substr(0, slash)), std::string(text.substr(slash))};
}

// One outstanding request. It is answered exactly once: by a reply, or with kNoReply.
struct Nfs3Client::Call {
  bool done = false;
  bool owned_by_callback = false;   // pipelined calls free themselves
  std::function<void(void*)> take;  // null pointer: no reply
};

void Nfs3Client::on_reply(rpc_context*, int status, void* data, void* private_data) {
  auto* call = static_cast<Call*>(private_data);
  call->done = true;
  call->take(status == RPC_STATUS_SUCCESS ? data : nullptr);
  if (call->owned_by_callback) delete call;
}

// For a connection attempt only the status counts: its data is a text or nothing.
void Nfs3Client::on_connected(rpc_context* rpc, int status, void*, void* call) {
  on_reply(rpc, status, rpc, call);
}

// Sends and receives once; false when the connection is lost.
bool Nfs3Client::pump(rpc_context* rpc, int timeout_ms) {
  pollfd p{rpc_get_fd(rpc), static_cast<short>(rpc_which_events(rpc)), 0};
  if (p.fd < 0) return false;
  if (poll(&p, 1, timeout_ms) < 0) return true;
  return rpc_service(rpc, p.revents) >= 0 && rpc_get_fd(rpc) >= 0;
}

int Nfs3Client::call(const std::function<int(rpc_context*, rpc_cb, void*)>& submit,
                     const std::function<void(void*)>& take) {
  int status = call_once(submit, take);
  if (recovering_) return status;
  repeated_ = false;
  while (status == kNoReply && recovered_ && ride_out()) {
    repeated_ = true;
    status = call_once(submit, take);
  }
  return status;
}

void Nfs3Client::ride_outages(int patience_ms, std::function<bool()> recovered) {
  patience_ms_ = patience_ms;
  recovered_ = std::move(recovered);
}

// Reconnects and calls `recovered_` until it has succeeded. False: no connection in time.
bool Nfs3Client::ride_out() {
  const auto end = after_ms(patience_ms_);
  for (bool good = false; !good;) {
    if (!reconnect(ms_until(end))) return false;
    ++outages_;
    recovering_ = true;
    good = recovered_();
    recovering_ = false;
  }
  return true;
}

int Nfs3Client::call_once(const std::function<int(rpc_context*, rpc_cb, void*)>& submit,
                          const std::function<void(void*)>& take) {
  if (rpc_ == nullptr) return kNoReply;
  bool answered = false;
  Call pending;
  pending.take = [&](void* data) {
    if (data == nullptr) return;
    answered = true;
    take(data);
  };
  const auto began = Clock::now();
  const auto end = after_ms(deadline_ms_);
  if (submit(rpc_, on_reply, &pending) != 0) {
    disconnect();
    return kNoReply;
  }
  while (!pending.done) {
    const int left_ms = ms_until(end);
    if (left_ms == 0 || !pump(rpc_, std::min(left_ms, kPollStepMs))) break;
  }
  longest_wait_ms_ = std::max(
      longest_wait_ms_, std::chrono::duration<double, std::milli>(Clock::now() - began).count());
  // Destroying the context answers outstanding calls, so `pending` is not used later.
  if (!answered) disconnect();
  return answered ? NFS3_OK : kNoReply;
}

void Nfs3Client::disconnect() {
  if (rpc_ == nullptr) return;
  rpc_context* rpc = rpc_;
  rpc_ = nullptr;
  rpc_destroy_context(rpc);
}

Nfs3Client::~Nfs3Client() { disconnect(); }

void Nfs3Client::set_identity(int uid, int gid) {
  uid_ = uid;
  gid_ = gid;
  if (rpc_ == nullptr) return;
  rpc_set_uid(rpc_, uid);
  rpc_set_gid(rpc_, gid);
}

bool Nfs3Client::connect_once(int deadline_ms) {
  disconnect();
  rpc_ = rpc_init_context();
  bool good = false;
  Call pending;
  pending.take = [&](void* data) { good = data != nullptr; };
  const auto end = after_ms(deadline_ms);
  if (rpc_connect_port_async(rpc_, url_.server.c_str(), kNfsPort, kNfsProgram, kVersion,
                             on_connected, &pending) == 0) {
    while (!pending.done) {
      const int left_ms = ms_until(end);
      if (left_ms == 0 || !pump(rpc_, std::min(left_ms, kPollStepMs))) break;
    }
  }
  if (!good) {
    disconnect();
    return false;
  }
  set_identity(uid_, gid_);
  return true;
}

bool Nfs3Client::reconnect(int deadline_ms) {
  const auto end = after_ms(deadline_ms);
  while (!connect_once(std::clamp(ms_until(end), 1, kConnectTryMs))) {
    if (ms_until(end) == 0) return false;
    usleep(kReconnectPauseUs);
  }
  return true;
}

// Asks mountd for the export's root, over a separate connection.
bool Nfs3Client::ask_root(const Url& url, std::string& error, int deadline_ms) {
  rpc_context* rpc = rpc_init_context();
  const auto end = after_ms(deadline_ms);
  const auto wait = [&](const Call& call) {
    while (!call.done && ms_until(end) > 0) {
      if (!pump(rpc, std::min(ms_until(end), kPollStepMs))) break;
    }
  };
  bool good = false;
  Call connecting;
  connecting.take = [&](void* data) { good = data != nullptr; };
  if (rpc_connect_program_async(rpc, url.server.c_str(), kMountProgram, kVersion, on_connected,
                                &connecting) == 0) {
    wait(connecting);
  }
  Call asking;
  if (!good) {
    error = "no MOUNT service at " + url.server;
  } else {
    error = "MOUNT of " + url.path + ": no answer";
    asking.take = [&](void* data) {
      if (data == nullptr) return;
      const auto* result = static_cast<mountres3*>(data);
      if (result->fhs_status != MNT3_OK) {
        error = "MOUNT of " + url.path + " refused: " + std::to_string(result->fhs_status);
        return;
      }
      const auto& found = result->mountres3_u.mountinfo.fhandle;
      root_.assign(found.fhandle3_val, found.fhandle3_len);
    };
    if (rpc_mount3_mnt_async(rpc, on_reply, const_cast<char*>(url.path.c_str()), &asking) == 0) {
      wait(asking);
    }
  }
  rpc_destroy_context(rpc);
  return !root_.empty();
}

std::unique_ptr<Nfs3Client> Nfs3Client::mount(const Url& url, std::string& error, int deadline_ms) {
  std::unique_ptr<Nfs3Client> client(new Nfs3Client());
  client->url_ = url;
  client->uid_ = static_cast<int>(getuid());
  client->gid_ = static_cast<int>(getgid());
  if (!client->ask_root(url, error, deadline_ms)) return nullptr;
  if (!client->reconnect(deadline_ms)) {
    error = "no NFS service at " + url.server;
    return nullptr;
  }
  return client;
}

void Nfs3Client::run_once(int timeout_ms) {
  if (rpc_ != nullptr && !pump(rpc_, timeout_ms)) disconnect();
}

AttributesReply Nfs3Client::getattr(const Handle& object) {
  AttributesReply reply;
  GETATTR3args args{fh(object)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_getattr_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<GETATTR3res*>(data);
         reply.status = r->status;
         if (r->status == NFS3_OK) reply.attributes = r->GETATTR3res_u.resok.obj_attributes;
       });
  return reply;
}

AttributesReply Nfs3Client::setattr(const Handle& object, const NewAttributes& attributes,
                                    std::optional<nfstime3> guard) {
  AttributesReply reply;
  SETATTR3args args{fh(object), to_sattr(attributes), {}};
  args.guard.check = guard.has_value();
  args.guard.sattrguard3_u.obj_ctime = guard.value_or(nfstime3{});
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_setattr_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<SETATTR3res*>(data);
         reply.status = r->status;
         wcc_ = wcc_of(r->status == NFS3_OK ? r->SETATTR3res_u.resok.obj_wcc
                                            : r->SETATTR3res_u.resfail.obj_wcc);
         if (r->status == NFS3_OK) reply.attributes = wcc_.after;
       });
  return reply;
}

ObjectReply Nfs3Client::lookup(const Handle& directory, const std::string& name) {
  ObjectReply reply;
  LOOKUP3args args{where(directory, name)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_lookup_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<LOOKUP3res*>(data);
         reply.status = r->status;
         if (r->status != NFS3_OK) return;
         reply.handle = handle_of(r->LOOKUP3res_u.resok.object);
         reply.attributes = attributes_of(r->LOOKUP3res_u.resok.obj_attributes);
       });
  return reply;
}

AccessReply Nfs3Client::access(const Handle& object, std::uint32_t wanted) {
  AccessReply reply;
  ACCESS3args args{fh(object), wanted};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_access_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<ACCESS3res*>(data);
         reply.status = r->status;
         if (r->status == NFS3_OK) reply.granted = r->ACCESS3res_u.resok.access;
       });
  return reply;
}

TextReply Nfs3Client::readlink(const Handle& link) {
  TextReply reply;
  READLINK3args args{fh(link)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_readlink_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<READLINK3res*>(data);
         reply.status = r->status;
         if (r->status == NFS3_OK) reply.text = r->READLINK3res_u.resok.data;
       });
  return reply;
}

ReadReply Nfs3Client::read(const Handle& file, std::uint64_t offset, std::uint32_t count) {
  ReadReply reply;
  READ3args args{fh(file), offset, count};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_read_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<READ3res*>(data);
         reply.status = r->status;
         if (r->status != NFS3_OK) return;
         const READ3resok& ok = r->READ3res_u.resok;
         reply.data.assign(ok.data.data_val, ok.data.data_len);
         reply.eof = ok.eof != 0;
         reply.attributes = attributes_of(ok.file_attributes);
       });
  return reply;
}

WriteReply Nfs3Client::write(const Handle& file, std::uint64_t offset, std::string_view bytes,
                             stable_how stable) {
  WriteReply reply;
  WRITE3args args{fh(file), offset, static_cast<count3>(bytes.size()), stable, {}};
  args.data.data_len = static_cast<u_int>(bytes.size());
  args.data.data_val = const_cast<char*>(bytes.data());
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_write_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<WRITE3res*>(data);
         reply.status = r->status;
         if (r->status != NFS3_OK) return;
         const WRITE3resok& ok = r->WRITE3res_u.resok;
         reply.count = ok.count;
         reply.committed = ok.committed;
         reply.verifier = load_u64(ok.verf);
         reply.attributes = attributes_of(ok.file_wcc.after);
       });
  return reply;
}

WriteReply Nfs3Client::commit(const Handle& file, std::uint64_t offset, std::uint32_t count) {
  WriteReply reply;
  COMMIT3args args{fh(file), offset, count};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_commit_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<COMMIT3res*>(data);
         reply.status = r->status;
         if (r->status != NFS3_OK) return;
         reply.verifier = load_u64(r->COMMIT3res_u.resok.verf);
         reply.attributes = attributes_of(r->COMMIT3res_u.resok.file_wcc.after);
       });
  return reply;
}

void Nfs3Client::submit_read(const Handle& file, std::uint64_t offset, std::uint32_t count,
                             Done done) {
  if (rpc_ == nullptr) return done(kNoReply, nullptr, 0);
  READ3args args{fh(file), offset, count};
  auto* pending = new Call;
  pending->owned_by_callback = true;
  pending->take = [done](void* data) {
    if (data == nullptr) return done(kNoReply, nullptr, 0);
    const auto* r = static_cast<READ3res*>(data);
    if (r->status != NFS3_OK) return done(r->status, nullptr, 0);
    const READ3resok& ok = r->READ3res_u.resok;
    done(NFS3_OK, ok.data.data_val, ok.data.data_len);
  };
  if (rpc_nfs3_read_async(rpc_, on_reply, &args, pending) != 0) {
    delete pending;
    done(kNoReply, nullptr, 0);
  }
}

void Nfs3Client::submit_write(const Handle& file, std::uint64_t offset, std::string_view bytes,
                              stable_how stable, Done done) {
  if (rpc_ == nullptr) return done(kNoReply, nullptr, 0);
  WRITE3args args{fh(file), offset, static_cast<count3>(bytes.size()), stable, {}};
  args.data.data_len = static_cast<u_int>(bytes.size());
  args.data.data_val = const_cast<char*>(bytes.data());
  auto* pending = new Call;
  pending->owned_by_callback = true;
  pending->take = [done](void* data) {
    if (data == nullptr) return done(kNoReply, nullptr, 0);
    const auto* r = static_cast<WRITE3res*>(data);
    const bool good = r->status == NFS3_OK;
    done(r->status, nullptr, good ? r->WRITE3res_u.resok.count : 0);
  };
  if (rpc_nfs3_write_async(rpc_, on_reply, &args, pending) != 0) {
    delete pending;
    done(kNoReply, nullptr, 0);
  }
}

}  // namespace symnas::nfs3
