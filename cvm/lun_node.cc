#include "cvm/lun_node.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "common/base/unique_fd.h"

namespace symnas::cvm {
namespace {

namespace stdfs = std::filesystem;

Error named(const std::string& path, const std::string& what, ErrorCode code) {
  return Error{code, fmt::format("lun device {}: {}", path, what)};
}

Error from_errno(const std::string& path, const std::string& what) {
  const int number = errno;
  const ErrorCode code = number == ENOENT || number == ENOTDIR || number == ENXIO
                             ? ErrorCode::kNotFound
                         : number == EACCES || number == EPERM ? ErrorCode::kPermission
                                                               : ErrorCode::kIo;
  return named(path, fmt::format("{}: {} (errno {})", what, std::strerror(number), number), code);
}

// Whether `device` (st_dev) is a devtmpfs: the only filesystem whose nodes the kernel itself makes,
// one per device, so that every mount of it shows the same inodes.
bool is_devtmpfs(dev_t device) {
  const std::string wanted = fmt::format("{}:{}", major(device), minor(device));
  std::ifstream mounts("/proc/self/mountinfo");
  std::string line;
  while (std::getline(mounts, line)) {
    // proc(5): id parent major:minor root mount-point options [fields] - type source options
    std::size_t at = 0;
    for (int field = 0; field < 2; ++field) at = line.find(' ', at) + 1;
    if (line.compare(at, wanted.size() + 1, wanted + " ") != 0) continue;
    return line.find(" - devtmpfs ") != std::string::npos;
  }
  return false;
}

std::string sysfs_of(dev_t number) {
  return fmt::format("/sys/dev/block/{}:{}", major(number), minor(number));
}

Result<LunNode> resolve_block_device(const std::string& path, dev_t number) {
  std::error_code error;
  const stdfs::path sysfs = stdfs::canonical(sysfs_of(number), error);
  if (error)
    return tl::unexpected(
        named(path, "the kernel does not know this device number (no " + sysfs_of(number) + ")",
              ErrorCode::kNotFound));
  // sysfs writes '!' for '/' in names such as cciss/c0d0.
  std::string name = sysfs.filename().string();
  for (char& c : name)
    if (c == '!') c = '/';
  LunNode node{.path = "/dev/" + name, .kind = LunKind::kBlockDevice};
  struct stat st {};
  if (::lstat(node.path.c_str(), &st) != 0)
    return tl::unexpected(from_errno(path, "its own node " + node.path));
  if (!S_ISBLK(st.st_mode) || st.st_rdev != number)
    return tl::unexpected(
        named(path, node.path + " is not the kernel's node of this device", ErrorCode::kBusy));
  if (!is_devtmpfs(st.st_dev))
    return tl::unexpected(
        named(path,
              node.path + " is not on devtmpfs: another node of the device could be in use "
                          "unseen; mount devtmpfs on /dev",
              ErrorCode::kBusy));
  node.lock_device = st.st_dev;
  node.lock_inode = st.st_ino;
  node.device_number = number;
  return node;
}

struct LoopDevice {
  std::string path;
  dev_t number = 0;
  std::uint64_t file_device = 0;
  std::uint64_t file_inode = 0;
};

// Attached loop devices. A device that vanishes meanwhile is no alias any more and is left out.
std::vector<LoopDevice> attached_loops() {
  std::vector<LoopDevice> loops;
  std::error_code error;
  for (const auto& entry : stdfs::directory_iterator("/sys/block", error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("loop", 0) != 0 || !stdfs::exists(entry.path() / "loop/backing_file", error))
      continue;
    LoopDevice loop{.path = "/dev/" + name};
    const UniqueFd fd(::open(loop.path.c_str(), O_RDONLY | O_CLOEXEC));
    struct loop_info64 info {};
    struct stat st {};
    if (!fd.valid() || ::ioctl(fd.get(), LOOP_GET_STATUS64, &info) != 0 ||
        ::fstat(fd.get(), &st) != 0)
      continue;
    loop.number = st.st_rdev;
    loop.file_device = info.lo_device;
    loop.file_inode = info.lo_inode;
    loops.push_back(std::move(loop));
  }
  return loops;
}

Status check_file(const LunNode& node) {
  struct stat st {};
  if (::stat(node.path.c_str(), &st) != 0) return tl::unexpected(from_errno(node.path, "stat"));
  if (st.st_nlink != 1)
    return tl::unexpected(named(
        node.path,
        fmt::format("the file has {} hard links; a LUN has exactly one name: remove the others",
                    st.st_nlink),
        ErrorCode::kBusy));
  for (const LoopDevice& loop : attached_loops())
    if (loop.file_device == st.st_dev && loop.file_inode == st.st_ino)
      return tl::unexpected(
          named(node.path,
                loop.path + " is a loop device on this file, their locks would not see each "
                            "other; detach it (losetup -d) or use it instead",
                ErrorCode::kBusy));
  return {};
}

Status check_block_device(const LunNode& node) {
  std::error_code error;
  for (const auto& holder :
       stdfs::directory_iterator(sysfs_of(node.device_number) + "/holders", error))
    return tl::unexpected(named(
        node.path,
        fmt::format("it is part of /dev/{}: use that device", holder.path().filename().string()),
        ErrorCode::kBusy));
  const std::vector<LoopDevice> loops = attached_loops();
  for (const LoopDevice& mine : loops) {
    if (mine.number != node.device_number) continue;
    for (const LoopDevice& other : loops)
      if (other.number != mine.number && other.file_device == mine.file_device &&
          other.file_inode == mine.file_inode)
        return tl::unexpected(
            named(node.path,
                  other.path + " is another loop device on the same file, their locks would "
                               "not see each other; detach one of them (losetup -d)",
                  ErrorCode::kBusy));
  }
  return {};
}

}  // namespace

Result<LunNode> resolve_lun_node(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (!real) return tl::unexpected(from_errno(path, "resolve"));
  struct stat st {};
  if (::stat(real.get(), &st) != 0) return tl::unexpected(from_errno(path, "stat"));
  if (S_ISBLK(st.st_mode)) return resolve_block_device(path, st.st_rdev);
  if (!S_ISREG(st.st_mode))
    return tl::unexpected(
        named(path, "neither a block device nor a file", ErrorCode::kInvalidArgument));
  return LunNode{.path = real.get(),
                 .kind = LunKind::kFile,
                 .lock_device = st.st_dev,
                 .lock_inode = st.st_ino};
}

Status check_no_alias(const LunNode& node) {
  switch (node.kind) {
    case LunKind::kFile: return check_file(node);
    case LunKind::kBlockDevice: return check_block_device(node);
  }
  return {};
}

Result<LunNode> canonical_lun_node(const std::string& path) {
  SYMNAS_ASSIGN(LunNode node, resolve_lun_node(path));
  SYMNAS_TRY(check_no_alias(node));
  return node;
}

}  // namespace symnas::cvm
