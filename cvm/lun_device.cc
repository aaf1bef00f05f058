#include "cvm/lun_device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "cvm/limits.h"

namespace symnas::cvm {
namespace {

using Bounce = std::unique_ptr<std::byte, decltype(&std::free)>;

Bounce bounce(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kLabelBytes, bytes));
  CHECK(memory != nullptr, "out of memory");
  return {memory, &std::free};
}

// O_DIRECT on a file demands the logical block size of the device below. statx(2) tells it only
// since Linux 6.1, so try it: read 512 bytes at offset 512.
std::uint32_t file_block_bytes(int fd) {
  const Bounce memory = bounce(kLabelBytes);
  const ssize_t got = ::pread(fd, memory.get(), 512, 512);
  return got < 0 && errno == EINVAL ? 4096 : 512;
}

}  // namespace

Error device_error(const std::string& path, const std::string& what, int error_number) {
  ErrorCode code = ErrorCode::kIo;
  if (error_number == EBADE) code = ErrorCode::kFenced;
  if (error_number == ENOENT || error_number == ENXIO || error_number == ENODEV)
    code = ErrorCode::kNotFound;
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS)
    code = ErrorCode::kPermission;
  if (error_number == EBUSY || error_number == ETXTBSY) code = ErrorCode::kBusy;
  return Error{code, fmt::format("lun device {}: {}: {} (errno {})", path, what,
                                 std::strerror(error_number), error_number)};
}

Result<LunDevice> LunDevice::open(const std::string& path, Access access, DirectIo direct) {
  SYMNAS_ASSIGN(LunNode node, canonical_lun_node(path));
  return open_node(std::move(node), access, direct);
}

Result<LunDevice> LunDevice::open_node(LunNode node, Access access, DirectIo direct) {
  LunDevice device;
  device.node_ = std::move(node);
  const std::string& path = device.node_.path;
  const int flags = (access == Access::kWrite ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY;
  device.fd_ = UniqueFd(::open(path.c_str(), flags | O_DIRECT));
  if (!device.fd_.valid() && errno == EINVAL) {
    if (direct == DirectIo::kRequired)
      return fail(ErrorCode::kNotSupported, fmt::format("lun device {}: its filesystem does not "
                                                        "support O_DIRECT",
                                                        path));
    log::warn("lun device {}: no O_DIRECT here, falling back to the page cache", path);
    device.fd_ = UniqueFd(::open(path.c_str(), flags));
  }
  if (!device.fd_.valid()) return tl::unexpected(device_error(path, "open", errno));
  SYMNAS_TRY(device.probe());
  return device;
}

bool LunDevice::current() const {
  struct stat st {};
  if (::stat(path().c_str(), &st) != 0) return false;
  return st.st_dev == node_.lock_device && st.st_ino == node_.lock_inode &&
         (node_.kind == LunKind::kFile || st.st_rdev == node_.device_number);
}

Status LunDevice::probe() {
  struct stat st {};
  if (::fstat(fd_.get(), &st) != 0) return tl::unexpected(device_error(path(), "fstat", errno));
  if (st.st_dev != node_.lock_device || st.st_ino != node_.lock_inode)
    return fail(ErrorCode::kBusy,
                fmt::format("lun device {}: replaced by another node while it was opened", path()));
  if (node_.kind == LunKind::kFile) {
    size_bytes_ = static_cast<std::uint64_t>(st.st_size);
    logical_block_bytes_ = file_block_bytes(fd_.get());
    return {};
  }
  int block_bytes = 0;
  if (::ioctl(fd_.get(), BLKGETSIZE64, &size_bytes_) != 0)
    return tl::unexpected(device_error(path(), "BLKGETSIZE64", errno));
  if (::ioctl(fd_.get(), BLKSSZGET, &block_bytes) != 0)
    return tl::unexpected(device_error(path(), "BLKSSZGET", errno));
  if (block_bytes != 512 && block_bytes != 4096)
    return fail(ErrorCode::kNotSupported,
                fmt::format("lun device {}: logical blocks of {} bytes; 512 and 4096 are supported",
                            path(), block_bytes));
  logical_block_bytes_ = static_cast<std::uint32_t>(block_bytes);
  return {};
}

Status LunDevice::read(std::uint64_t offset, std::span<std::byte> into) const {
  CHECK(offset % kLabelBytes == 0 && into.size() % kLabelBytes == 0);
  if (offset > size_bytes_ || into.size() > size_bytes_ - offset)
    return fail(ErrorCode::kOutOfRange, fmt::format("lun device {}: read of {} bytes at {} of {}",
                                                    path(), into.size(), offset, size_bytes_));
  const Bounce memory = bounce(into.size());
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(fd_.get(), memory.get() + done, into.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return tl::unexpected(device_error(path(),
                                         fmt::format("read of {} bytes at {}", into.size(), offset),
                                         got == 0 ? EIO : errno));
    done += static_cast<std::size_t>(got);
  }
  std::memcpy(into.data(), memory.get(), into.size());
  return {};
}

Status LunDevice::write(std::uint64_t offset, std::span<const std::byte> from) const {
  CHECK(offset % kLabelBytes == 0 && from.size() % kLabelBytes == 0);
  if (offset > size_bytes_ || from.size() > size_bytes_ - offset)
    return fail(ErrorCode::kOutOfRange, fmt::format("lun device {}: write of {} bytes at {} of {}",
                                                    path(), from.size(), offset, size_bytes_));
  const Bounce memory = bounce(from.size());
  std::memcpy(memory.get(), from.data(), from.size());
  std::size_t done = 0;
  while (done < from.size()) {
    const struct iovec part { memory.get() + done, from.size() - done };
    const ssize_t put =
        ::pwritev2(fd_.get(), &part, 1, static_cast<off_t>(offset + done), RWF_DSYNC);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      return tl::unexpected(
          device_error(path(), fmt::format("write of {} bytes at {}", from.size(), offset),
                       put == 0 ? EIO : errno));
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Status LunDevice::zero(std::uint64_t offset, std::uint64_t length_bytes) const {
  const std::vector<std::byte> zeroes(static_cast<std::size_t>(std::min(length_bytes, kMiB)));
  while (length_bytes > 0) {
    const std::uint64_t step = std::min<std::uint64_t>(length_bytes, zeroes.size());
    SYMNAS_TRY(write(offset, std::span(zeroes).first(static_cast<std::size_t>(step))));
    offset += step;
    length_bytes -= step;
  }
  return {};
}

}  // namespace symnas::cvm
