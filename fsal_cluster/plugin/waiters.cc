#include "fsal_cluster/plugin/waiters.h"

#include <arpa/inet.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/env/clock.h"
#include "fsal_cluster/nsm/sockets.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/lock_terms.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/schema/handle.h"
#include "fsal_cluster/state/nlm_client.h"

namespace symnas::plugin {
namespace {

// Pause between two looks whether a client can be called: the VIPs are not up yet, say.
constexpr std::chrono::milliseconds kLookAgain{20};
// Pause when only NFSv4 clients are left, who come by themselves.
constexpr std::chrono::milliseconds kLookForEnd{5000};

// Pauses before calls of an NFSv4.1 client that has reclaimed.
constexpr std::array<std::int64_t, 5> kCallsNs = {20'000'000, 80'000'000, 200'000'000, 500'000'000,
                                                  2'000'000'000};

// A file by an export, for work of ganesha that no request has begun.
class FileOfExport {
 public:
  FileOfExport(std::uint16_t export_id, const fs::Handle& file)
      : exported_(get_gsh_export(export_id)) {
    if (exported_ == nullptr) return;
    init_op_context_simple(&context_, exported_, exported_->fsal_export);
    std::string wire = fs::encode_handle(file);
    gsh_buffdesc key{wire.data(), wire.size()};
    found_ = exported_->fsal_export->exp_ops.create_handle(exported_->fsal_export, &key, &object_,
                                                           nullptr);
    if (FSAL_IS_ERROR(found_)) object_ = nullptr;
  }
  ~FileOfExport() {
    if (object_ != nullptr) object_->obj_ops->put_ref(object_);
    if (exported_ != nullptr) release_op_context();  // gives the export back
  }
  FileOfExport(const FileOfExport&) = delete;
  FileOfExport& operator=(const FileOfExport&) = delete;

  bool is_exported() const { return exported_ != nullptr; }
  bool is_gone() const { return exported_ != nullptr && found_.major == ERR_FSAL_STALE; }
  // nullptr: it cannot be reached (now).
  fsal_obj_handle* object() const { return object_; }
  gsh_export* by() const { return exported_; }

 private:
  gsh_export* const exported_;
  req_op_context context_{};
  fsal_status_t found_{};
  fsal_obj_handle* object_ = nullptr;
};

struct Waiting {
  fs::Mount* mount;
  fs::LockWait wait;
};

// What an entry of ganesha's lists says. nullopt: its client asks by itself (NFSv4.0), or its
// export is being removed.
std::optional<Waiting> waiting_of(const state_lock_entry_t* entry) {
  // The poller of blocked locks has no context for an export that is not ready any more. A record
  // that stays because of this ends as that of a wait that a former process has left.
  if (op_ctx == nullptr || op_ctx->fsal_export == nullptr) return std::nullopt;
  const state_owner_t* owner = entry->sle_owner;
  const bool is_nlm = owner->so_type == STATE_LOCK_OWNER_NLM;
  if (!is_nlm && owner->so_owner.so_nfs4_owner.so_clientrec->cid_minorversion == 0)
    return std::nullopt;
  const fsal_export* stacked = entry->sle_export->fsal_export;
  if (stacked == nullptr || stacked->sub_export == nullptr) return std::nullopt;
  fs::Mount* mount = export_of(stacked->sub_export)->mount;
  std::array<char, fs::kHandleBytesMax> bytes;
  gsh_buffdesc wire{bytes.data(), bytes.size()};
  if (FSAL_IS_ERROR(
          entry->sle_obj->obj_ops->handle_to_wire(entry->sle_obj, FSAL_DIGEST_NFSV4, &wire)))
    return std::nullopt;
  const auto file = fs::decode_handle({bytes.data(), wire.len}, mount->fsid());
  if (!file) return std::nullopt;
  Waiting out{mount, {}};
  out.wait.ino = file->ino;
  out.wait.generation = file->generation;
  out.wait.owner = identity(owner);
  out.wait.range = range_of(entry->sle_lock);
  if (is_nlm) out.wait.nsm_state = static_cast<std::int32_t>(entry->sle_state->state_seqid);
  out.wait.export_id = entry->sle_export->export_id;
  return out;
}

// Called under the state lock of the file. A wait that cannot be recorded is no error.
void note_wait(state_lock_entry_t* entry, bool waits) {
  (void)contained([&] {
    const auto waiting = waiting_of(entry);
    if (!waiting) return ok_status();
    if (!waits) {
      waiting->mount->locks().end_wait(waiting->wait);
      return ok_status();
    }
    const Admission::Permit permit(Instance::get().admission());
    if (permit) waiting->mount->locks().begin_wait(waiting->wait);
    return ok_status();
  });
}

// What an NLM owner locked before this process started is in no list, because nobody reclaims it.
void tell_held(state_lock_entry_t* waiter) {
  (void)contained([&] {
    if (waiter->sle_protocol != LOCK_NLM) return ok_status();
    const auto waiting = waiting_of(waiter);
    if (!waiting) return ok_status();
    const fs::LockWait& wait = waiting->wait;
    for (const fs::LockRange& held :
         waiting->mount->locks().held_by(wait.ino, wait.owner, wait.nsm_state)) {
      fsal_lock_param_t lock = lock_param_of(held);
      state_owner_holds(waiter, &lock);
    }
    return ok_status();
  });
}

sockaddr_t socket_address(const std::string& text) {
  sockaddr_t out{};
  auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
  v6.sin6_family = AF_INET6;
  const std::string mapped = text.find(':') == std::string::npos ? "::ffff:" + text : text;
  ::inet_pton(AF_INET6, mapped.c_str(), &v6.sin6_addr);
  return out;
}

// False: try again.
bool bring_back_nlm(fs::Mount& mount, const fs::LockWait& wait) {
  constexpr std::size_t kSvidBytes = 4;
  const auto client = fs::parse_nlm_client(wait.owner.client);
  if (!client || wait.owner.owner.size() < kSvidBytes) {
    mount.locks().end_left(wait);
    return true;
  }
  if (!Instance::get().has_read_exports() || !nsm::has_way(client->server, client->address))
    return false;
  const FileOfExport file(wait.export_id, {mount.fsid(), wait.ino, wait.generation});
  if (!file.is_exported() || file.is_gone()) {
    mount.locks().end_left(wait);
    return true;
  }
  if (file.object() == nullptr) return false;
  std::string address = client->address;
  std::string name = client->name;
  std::string oh = wait.owner.owner.substr(kSvidBytes);
  const sockaddr_t server = socket_address(client->server);
  netobj owner{static_cast<unsigned>(oh.size()), oh.data()};
  fsal_lock_param_t lock = lock_param_of(wait.range);
  const bool waits = nlm_restore_wait(file.object(), address.data(), name.data(), &server, &owner,
                                      read_be32(wait.owner.owner, 0), wait.nsm_state, &lock);
  if (!waits) mount.locks().end_left(wait);
  log::info("NLM client {}: waits on for a lock of inode {}{}", address, wait.ino.value(),
            waits ? "" : ": no more");
  return true;
}

}  // namespace

Waiters::Waiters(std::int64_t lease_s)
    : patience_ns_(fs::kUnclaimedLeases * lease_s * 1'000'000'000), thread_([this] { run(); }) {}

Waiters& Waiters::get() {
  static auto* const waiters = new Waiters(nfs_param.nfsv4_param.lease_lifetime);
  return *waiters;
}

void Waiters::add(fs::Mount& mount) {
  mount.locks().on_called([this] {
    {
      const MutexLock lock(mutex_);
      called_ = true;
    }
    wake_.notify_all();
  });
  if (mount.locks().left_waits().empty()) return;
  {
    const MutexLock lock(mutex_);
    mounts_.push_back({&mount, env::system_clock().mono_ns()});
    called_ = true;  // at once
  }
  wake_.notify_all();
}

bool Waiters::bring_back(const Mounted& mounted) const {
  fs::FileLocks& locks = mounted.mount->locks();
  bool all = true;
  for (const fs::LockWait& wait : locks.left_waits()) {
    // Its client may have rebooted since, say.
    if (wait.owner.protocol == fs::LockProtocol::kNlm && locks.is_left(wait))
      all = bring_back_nlm(*mounted.mount, wait) && all;
  }
  if (env::system_clock().mono_ns() - mounted.since_ns > patience_ns_) locks.forget_left_waits();
  return all;
}

void Waiters::pause(std::chrono::milliseconds pause) {
  wake_.wait_for(mutex_, pause, [this]() REQUIRES(mutex_) { return called_; });
}

void Waiters::client_is_ready(const nfs_client_id_t& client) {
  const MutexLock lock(mutex_);
  ready_.push_back(
      {client.cid_clientid, identity(client), 0, env::system_clock().mono_ns() + kCallsNs[0]});
  wake_.notify_all();
}

bool Waiters::call(const std::vector<Mounted>& mounts, Ready& ready) {
  bool waits = false;
  for (const Mounted& mounted : mounts) {
    for (const fs::LockWait& wait : mounted.mount->locks().left_waits()) {
      if (wait.owner.protocol != fs::LockProtocol::kNfs4 || wait.owner.client != ready.client)
        continue;
      if (!mounted.mount->locks().is_left(wait)) continue;
      waits = true;
      const FileOfExport file(wait.export_id, {mounted.mount->fsid(), wait.ino, wait.generation});
      log::info("client {}: is to ask again for a lock of inode {}", to_hex(ready.client),
                wait.ino.value());
      if (file.object() != nullptr &&
          nfs4_notify_waiter(ready.id, file.object(), file.by(), wait.owner.owner.data(),
                             static_cast<std::uint32_t>(wait.owner.owner.size())) &&
          ready.calls + 1 < kCallsNs.size())
        continue;
      mounted.mount->locks().end_left(wait);  // if it still waits it asks by itself
    }
  }
  if (!waits || ++ready.calls == kCallsNs.size()) return false;
  ready.due_ns += kCallsNs[ready.calls];
  return true;
}

void Waiters::run() {
  MutexLock lock(mutex_);
  bool all = true;
  for (;;) {
    pause(ready_.empty() && (mounts_.empty() || all) ? kLookForEnd : kLookAgain);
    const bool called = std::exchange(called_, false);
    std::vector<Mounted> mounts = std::exchange(mounts_, {});
    std::vector<Ready> ready = std::exchange(ready_, {});
    lock.unlock();
    if (called) blocked_lock_polling(nullptr);
    all = true;
    for (const Mounted& mounted : mounts) all = bring_back(mounted) && all;
    const std::int64_t now_ns = env::system_clock().mono_ns();
    std::erase_if(ready, [&](Ready& one) { return one.due_ns <= now_ns && !call(mounts, one); });
    std::erase_if(
        mounts, [](const Mounted& mounted) { return mounted.mount->locks().left_waits().empty(); });
    lock.lock();
    mounts_.insert(mounts_.end(), mounts.begin(), mounts.end());
    ready_.insert(ready_.end(), ready.begin(), ready.end());
  }
}

void record_waits() {
  nfs_lock_waits = note_wait;
  nfs_lock_owner_holds = tell_held;
}

}  // namespace symnas::plugin
