#include "tests/workloads/dnfs/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>
#include <nfsc/libnfs.h>
// clang-format off
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nfs4.h>
// clang-format on

#include "common/base/check.h"

// What nfs_get_fh() returns; libnfs has the function in a public header, its type in a private one.
struct nfs_fh {
  int len;
  char* val;
};

namespace symnas::dnfs {
namespace {

constexpr int kFileMode = 0640;

bool holds(const char* text, const char* word) {
  return text != nullptr && std::strstr(text, word) != nullptr;
}

void set_handle(nfs_fh3& out, nfsfh* file) {
  const nfs_fh* handle = nfs_get_fh(file);
  CHECK(handle->len > 0 && handle->len <= NFS3_FHSIZE, "libnfs has another struct nfs_fh");
  out.data.data_len = static_cast<u_int>(handle->len);
  out.data.data_val = handle->val;
}

// libnfs tells NFSv4's statuses by their names alone.
IoEnd end_of_v4(const char* text) {
  for (const char* word : {"NFS4ERR_DELAY", "NFS4ERR_GRACE"})
    if (holds(text, word)) return IoEnd::kLater;
  for (const char* word : {"NFS4ERR_EXPIRED", "NFS4ERR_STALE_CLIENTID", "NFS4ERR_STALE_STATEID",
                           "NFS4ERR_BAD_STATEID", "NFS4ERR_OLD_STATEID", "NFS4ERR_ADMIN_REVOKED"})
    if (holds(text, word)) return IoEnd::kTransport;  // opened anew with a new connection
  return IoEnd::kError;
}

}  // namespace

struct Connection::Wires {
  struct Io {
    Wires* wires = nullptr;
    RequestId id = 0;
    std::uint32_t bytes = 0;
    bool reads = false;
  };

  ConnectionTarget target;
  std::vector<FileToOpen> files;
  ConnectionEvents events;
  nfs_context* nfs = nullptr;
  std::vector<nfsfh*> open;
  std::unordered_map<RequestId, Io> ios;
  bool creating = false;
  bool over = false;  // `ended` was called, or we are being destroyed: nothing is told any more

  rpc_context* rpc() const { return nfs_get_rpc_context(nfs); }

  // `status`: of libnfs; -EFAULT and -EINTR mean that no answer came.
  void end(const std::string& why, int status = -EFAULT) {
    if (std::exchange(over, true)) return;
    events.ended(why, status != -EFAULT && status != -EINTR);
  }

  std::string libnfs_error() const {
    const char* text = nfs_get_error(nfs);
    return text == nullptr || *text == 0 ? "no reason given" : text;
  }

  static void on_mounted(int status, nfs_context*, void*, void* self) {
    auto& wires = *static_cast<Wires*>(self);
    if (wires.over) return;
    if (status < 0) return wires.end("mount: " + wires.libnfs_error(), status);
    wires.open_next();
  }

  void open_next() {
    if (open.size() == files.size()) return events.ready();
    const FileToOpen& file = files[open.size()];
    const int access = file.write ? O_RDWR | O_SYNC : O_RDONLY;
    const int error = creating ? nfs_open2_async(nfs, file.path.c_str(), access | O_CREAT,
                                                 kFileMode, &on_opened, this)
                               : nfs_open_async(nfs, file.path.c_str(), access, &on_opened, this);
    if (error != 0) end(fmt::format("open {}: {}", file.path, libnfs_error()));
  }

  static void on_opened(int status, nfs_context*, void* data, void* self) {
    auto& wires = *static_cast<Wires*>(self);
    if (wires.over) return;
    const FileToOpen& file = wires.files[wires.open.size()];
    if (status == -ENOENT && file.create && !wires.creating) {
      wires.creating = true;
      return wires.open_next();
    }
    if (status < 0)
      return wires.end(fmt::format("open {}: {}", file.path, wires.libnfs_error()), status);
    wires.creating = false;
    wires.open.push_back(static_cast<nfsfh*>(data));
    wires.open_next();
  }

  void finish(Io* io, IoEnd how, const std::string& why, std::span<const char> data) {
    const RequestId id = io->id;
    ios.erase(id);
    if (over) return;
    events.io(id, how, why, data);
  }

  void finish_v3(Io* io, nfsstat3 status) {
    const IoEnd how = status == NFS3ERR_JUKEBOX ? IoEnd::kLater : IoEnd::kError;
    finish(io, how, nfsstat3_to_str(status), {});
  }

  static void on_read3(rpc_context*, int status, void* data, void* private_data) {
    auto* io = static_cast<Io*>(private_data);
    if (status != RPC_STATUS_SUCCESS)
      return io->wires->finish(io, IoEnd::kTransport, "no reply to READ", {});
    const auto* reply = static_cast<const READ3res*>(data);
    if (reply->status != NFS3_OK) return io->wires->finish_v3(io, reply->status);
    const READ3resok& ok = reply->READ3res_u.resok;
    if (ok.data.data_len < io->bytes && !ok.eof)
      return io->wires->finish(io, IoEnd::kLater, "a short READ before the end of the file", {});
    io->wires->finish(io, IoEnd::kDone, "", {ok.data.data_val, ok.data.data_len});
  }

  static void on_written3(rpc_context*, int status, void* data, void* private_data) {
    auto* io = static_cast<Io*>(private_data);
    if (status != RPC_STATUS_SUCCESS)
      return io->wires->finish(io, IoEnd::kTransport, "no reply to WRITE", {});
    const auto* reply = static_cast<const WRITE3res*>(data);
    if (reply->status != NFS3_OK) return io->wires->finish_v3(io, reply->status);
    const WRITE3resok& ok = reply->WRITE3res_u.resok;
    if (ok.committed != FILE_SYNC)
      return io->wires->finish(io, IoEnd::kError, "WRITE is not stable as was asked for", {});
    io->wires->finish_write(io, ok.count);
  }

  void finish_write(Io* io, std::uint32_t count) {
    if (count == io->bytes) return finish(io, IoEnd::kDone, "", {});
    finish(io, IoEnd::kLater, fmt::format("only {} of {} bytes written", count, io->bytes), {});
  }

  static void on_io4(int status, nfs_context*, void* data, void* private_data) {
    auto* io = static_cast<Io*>(private_data);
    if (status == -EFAULT || status == -EINTR)
      return io->wires->finish(io, IoEnd::kTransport, "no reply", {});
    if (status < 0) {
      const char* text = static_cast<const char*>(data);
      return io->wires->finish(io, end_of_v4(text), text == nullptr ? "" : text, {});
    }
    const auto count = static_cast<std::uint32_t>(status);
    if (!io->reads) return io->wires->finish_write(io, count);
    io->wires->finish(io, IoEnd::kDone, "", {static_cast<const char*>(data), count});
  }

  Io* add(RequestId id, std::uint32_t bytes, bool reads) {
    return &(ios[id] = Io{this, id, bytes, reads});
  }

  void queued(Io* io, int error) {
    if (error == 0) return;
    finish(io, IoEnd::kError, "libnfs does not send it: " + libnfs_error(), {});
  }
};

Connection::Connection(ConnectionTarget target, const std::vector<FileToOpen>& files,
                       ConnectionEvents events)
    : wires_(std::make_unique<Wires>()) {
  wires_->target = std::move(target);
  wires_->files = files;
  wires_->events = std::move(events);
  wires_->nfs = nfs_init_context();
}

Connection::~Connection() {
  wires_->over = true;
  for (nfsfh* file : wires_->open) {
    // Frees the handle of NFSv3 without a call; that of NFSv4 is freed with the process: CLOSE
    // would need the connection.
    if (wires_->target.version == 3)
      nfs_close_async(
          wires_->nfs, file, [](int, nfs_context*, void*, void*) {}, nullptr);
  }
  nfs_destroy_context(wires_->nfs);
}

void Connection::begin() {
  Wires& wires = *wires_;
  const LocalBind bound(wires.target.local);
  nfs_set_autoreconnect(wires.nfs, 0);
  nfs_set_dircache(wires.nfs, 0);
  if (wires.target.uid >= 0) nfs_set_uid(wires.nfs, wires.target.uid);
  if (wires.target.gid >= 0) nfs_set_gid(wires.nfs, wires.target.gid);
  nfs_set_version(wires.nfs, wires.target.version == 4 ? NFS_V4 : NFS_V3);
  if (wires.target.version == 4) nfs4_set_client_name(wires.nfs, wires.target.owner.c_str());
  if (nfs_mount_async(wires.nfs, wires.target.server.c_str(), wires.target.exported.c_str(),
                      &Wires::on_mounted, &wires) != 0)
    wires.end("mount: " + wires.libnfs_error());
}

int Connection::fd() const { return wires_->over ? -1 : nfs_get_fd(wires_->nfs); }

short Connection::wanted() const { return static_cast<short>(nfs_which_events(wires_->nfs)); }

void Connection::service(short events) {
  if (wires_->over) return;
  const LocalBind bound(wires_->target.local);
  if (nfs_service(wires_->nfs, events) < 0) wires_->end(wires_->libnfs_error());
}

void Connection::read(RequestId id, std::size_t file, std::uint64_t offset, std::uint32_t bytes) {
  Wires& wires = *wires_;
  Wires::Io* io = wires.add(id, bytes, true);
  nfsfh* handle = wires.open[file];
  if (wires.target.version == 4)
    return wires.queued(io, nfs_pread_async(wires.nfs, handle, offset, bytes, &Wires::on_io4, io));
  READ3args args{};
  set_handle(args.file, handle);
  args.offset = offset;
  args.count = bytes;
  wires.queued(io, rpc_nfs3_read_async(wires.rpc(), &Wires::on_read3, &args, io));
}

void Connection::write(RequestId id, std::size_t file, std::uint64_t offset,
                       std::span<const char> data) {
  Wires& wires = *wires_;
  Wires::Io* io = wires.add(id, static_cast<std::uint32_t>(data.size()), false);
  nfsfh* handle = wires.open[file];
  if (wires.target.version == 4)
    return wires.queued(io, nfs_pwrite_async(wires.nfs, handle, offset, data.size(), data.data(),
                                             &Wires::on_io4, io));
  WRITE3args args{};
  set_handle(args.file, handle);
  args.offset = offset;
  args.count = static_cast<count3>(data.size());
  args.stable = FILE_SYNC;
  args.data.data_len = static_cast<u_int>(data.size());
  args.data.data_val = const_cast<char*>(data.data());  // XDR's types know no const
  wires.queued(io, rpc_nfs3_write_async(wires.rpc(), &Wires::on_written3, &args, io));
}

}  // namespace symnas::dnfs
