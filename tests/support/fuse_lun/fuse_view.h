// FuseView: one head's view of the LUNs: a mount point with one file per LUN.
//
// Each head has a mount of its own, and so its own inode, locks and queue in the kernel, like the
// hosts of one array. Requests carry the head's name to the LUN.
//
// Thread class: thread-compatible; a thread of its own serves it until the process ends, so views
// are never destroyed. Invariants: file data is never cached by the kernel (FOPEN_DIRECT_IO); byte
// locks are the kernel's own (no FUSE_POSIX_LOCKS). Sources: linux/fuse.h, fuse_lowlevel.h.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "tests/support/fuse_lun/lun_set.h"

struct fuse_session;

namespace symnas::fuse_lun {

class FuseView {
 public:
  // Mounts on the directory `mount_point`. `luns` outlives the view.
  // Errors: kUnavailable: no root, no /dev/fuse, no such directory.
  static Result<std::unique_ptr<FuseView>> mount(const std::string& head,
                                                 const std::string& mount_point, LunSet& luns);
  // Removes the mount point. Open files are still served until the process ends; then requests
  // under way fail with ECONNABORTED.
  void unmount();

  const std::string& head() const { return head_; }
  LunSet& luns() const { return luns_; }

 private:
  FuseView(std::string head, std::string mount_point, LunSet& luns)
      : head_(std::move(head)), mount_point_(std::move(mount_point)), luns_(luns) {}

  const std::string head_;
  const std::string mount_point_;
  LunSet& luns_;
  fuse_session* session_ = nullptr;
};

}  // namespace symnas::fuse_lun
