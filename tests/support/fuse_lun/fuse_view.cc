#define FUSE_USE_VERSION 314
#include "tests/support/fuse_lun/fuse_view.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fuse3/fuse_lowlevel.h>

namespace symnas::fuse_lun {
namespace {

constexpr fuse_ino_t kFirstLun = FUSE_ROOT_ID + 1;
constexpr double kNoCacheS = 0.0;  // names and attributes are asked for each time: LUNs vanish

FuseView& view_of(fuse_req_t req) { return *static_cast<FuseView*>(::fuse_req_userdata(req)); }

FaultyLun* lun_of(fuse_req_t req, fuse_ino_t ino) {
  return ino < kFirstLun ? nullptr : view_of(req).luns().at(ino - kFirstLun);
}

struct stat attributes(fuse_ino_t ino, const FaultyLun* lun) {
  struct stat st {};
  st.st_ino = ino;
  st.st_mode = lun == nullptr ? S_IFDIR | 0700 : S_IFREG | 0600;
  st.st_nlink = lun == nullptr ? 2 : 1;
  st.st_size = lun == nullptr ? 0 : static_cast<off_t>(lun->size_bytes());
  st.st_blocks = st.st_size / 512;
  st.st_blksize = 4096;
  return st;
}

void on_init(void*, fuse_conn_info* conn) {
  conn->max_write = kRequestBytesMax;
  conn->max_readahead = 0;
  conn->max_background = kBackgroundMax;
  conn->congestion_threshold = kBackgroundMax;
  conn->want |= FUSE_CAP_ASYNC_DIO & conn->capable;
  conn->want &=
      ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                             FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_READDIRPLUS |
                             FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS);
}

void on_lookup(fuse_req_t req, fuse_ino_t parent, const char* name) {
  const auto luns = view_of(req).luns().all();
  for (std::size_t i = 0; parent == FUSE_ROOT_ID && i < luns.size(); ++i) {
    if (luns[i]->name() != name || !luns[i]->is_there()) continue;
    fuse_entry_param entry{};
    entry.ino = kFirstLun + i;
    entry.attr = attributes(entry.ino, luns[i]);
    entry.attr_timeout = entry.entry_timeout = kNoCacheS;
    ::fuse_reply_entry(req, &entry);
    return;
  }
  ::fuse_reply_err(req, ENOENT);
}

void on_getattr(fuse_req_t req, fuse_ino_t ino, fuse_file_info*) {
  const FaultyLun* lun = lun_of(req, ino);
  if (ino != FUSE_ROOT_ID && lun == nullptr) {
    ::fuse_reply_err(req, ENOENT);
    return;
  }
  const struct stat st = attributes(ino, lun);
  ::fuse_reply_attr(req, &st, kNoCacheS);
}

// Times and modes of a LUN file have no effect.
void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat*, int, fuse_file_info* file) {
  on_getattr(req, ino, file);
}

void on_open(fuse_req_t req, fuse_ino_t ino, fuse_file_info* file) {
  const FaultyLun* lun = lun_of(req, ino);
  if (lun == nullptr || !lun->is_there()) {
    ::fuse_reply_err(req, lun == nullptr ? EISDIR : ENXIO);
    return;
  }
  file->direct_io = 1;
  ::fuse_reply_open(req, file);
}

void on_readdir(fuse_req_t req, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info*) {
  const auto luns = view_of(req).luns().all();
  std::string page;
  for (auto i = static_cast<std::size_t>(offset); i < luns.size(); ++i) {
    if (!luns[i]->is_there()) continue;
    const struct stat st = attributes(kFirstLun + i, luns[i]);
    const char* name = luns[i]->name().c_str();
    const std::size_t need = ::fuse_add_direntry(req, nullptr, 0, name, nullptr, 0);
    if (page.size() + need > size) break;
    page.resize(page.size() + need);
    ::fuse_add_direntry(req, page.data() + page.size() - need, need, name, &st,
                        static_cast<off_t>(i + 1));
  }
  ::fuse_reply_buf(req, page.data(), page.size());
}

// Answers EINVAL unless the request is whole sectors inside the LUN. A read answers `count` bytes,
// after the first `skip` bytes.
void submit(fuse_req_t req, fuse_ino_t ino, Request request, std::size_t skip = 0,
            std::size_t count = 0) {
  FaultyLun* lun = lun_of(req, ino);
  const std::uint64_t size = lun == nullptr ? 0 : lun->size_bytes();
  if (request.offset % kSectorBytes != 0 || request.length % kSectorBytes != 0 ||
      request.offset > size || request.length > size - request.offset) {
    ::fuse_reply_err(req, EINVAL);
    return;
  }
  request.head = view_of(req).head();
  request.done = [req, skip, count](Request& done, int error_number) {
    if (error_number != 0 || done.kind == RequestKind::kFlush)
      ::fuse_reply_err(req, error_number);
    else if (done.kind == RequestKind::kWrite)
      ::fuse_reply_write(req, done.length);
    else
      ::fuse_reply_buf(req, reinterpret_cast<const char*>(done.data.data()) + skip, count);
  };
  lun->submit(std::move(request));
}

// libblkid reads at any offset and length, through a descriptor opened without O_DIRECT.
void on_read(fuse_req_t req, fuse_ino_t ino, std::size_t size, off_t offset, fuse_file_info*) {
  const FaultyLun* lun = lun_of(req, ino);
  const auto at = static_cast<std::uint64_t>(offset);
  const std::uint64_t end = lun == nullptr ? 0 : std::min(at + size, lun->size_bytes());
  if (at >= end) {
    ::fuse_reply_buf(req, nullptr, 0);
    return;
  }
  const std::uint64_t first = at / kSectorBytes * kSectorBytes;
  const std::uint64_t last = (end + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
  submit(req, ino, {.kind = RequestKind::kRead, .offset = first, .length = last - first},
         at - first, end - at);
}

// The request has O_DSYNC for a descriptor opened with it, for RWF_DSYNC and for RWF_SYNC
// (README.md).
void on_write(fuse_req_t req, fuse_ino_t ino, const char* data, std::size_t size, off_t offset,
              fuse_file_info* file) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  submit(req, ino,
         {.kind = RequestKind::kWrite,
          .offset = static_cast<std::uint64_t>(offset),
          .length = size,
          .stability = (file->flags & O_DSYNC) != 0 ? Stability::kStable : Stability::kVolatile,
          .data = std::vector<std::byte>(bytes, bytes + size)});
}

void on_fsync(fuse_req_t req, fuse_ino_t ino, int, fuse_file_info*) {
  submit(req, ino, {.kind = RequestKind::kFlush});
}

constexpr fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops ops{};
  ops.init = on_init;
  ops.lookup = on_lookup;
  ops.getattr = on_getattr;
  ops.setattr = on_setattr;
  ops.open = on_open;
  ops.readdir = on_readdir;
  ops.read = on_read;
  ops.write = on_write;
  ops.fsync = on_fsync;
  return ops;
}

}  // namespace

Result<std::unique_ptr<FuseView>> FuseView::mount(const std::string& head,
                                                  const std::string& mount_point, LunSet& luns) {
  std::unique_ptr<FuseView> view(new FuseView(head, mount_point, luns));
  static constexpr fuse_lowlevel_ops kOperations = operations();
  char program[] = "fuse_lun";
  char option[] = "-oallow_other,fsname=fuse_lun";
  char* argv[] = {program, option, nullptr};
  fuse_args args = FUSE_ARGS_INIT(2, argv);
  view->session_ = ::fuse_session_new(&args, &kOperations, sizeof kOperations, view.get());
  ::fuse_opt_free_args(&args);
  errno = 0;
  if (view->session_ == nullptr || ::fuse_session_mount(view->session_, mount_point.c_str()) != 0) {
    const int number = errno;
    if (view->session_ != nullptr) ::fuse_session_destroy(view->session_);
    view->session_ = nullptr;
    return fail(ErrorCode::kUnavailable,
                "cannot mount FUSE on " + mount_point + ": " + std::strerror(number));
  }
  // The thread ends with the process: open files keep a detached mount and its requests alive.
  std::thread([session = view->session_] { ::fuse_session_loop(session); }).detach();
  return view;
}

void FuseView::unmount() { ::umount2(mount_point_.c_str(), MNT_DETACH); }

}  // namespace symnas::fuse_lun
