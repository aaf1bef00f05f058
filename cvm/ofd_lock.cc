#include "cvm/ofd_lock.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "cvm/limits.h"

namespace symnas::cvm {
namespace {

struct flock write_lock(off_t begin, off_t length) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = length;
  return range;
}

tl::unexpected<Error> held_by_others(const std::string& what) {
  return fail(ErrorCode::kBusy,
              what +
                  ": held through another open of the LUN; an instance of that VNFS still runs "
                  "on this head, or its last I/O has not ended");
}

Status lock_range(int fd, off_t begin, off_t length, const std::string& what) {
  struct flock range = write_lock(begin, length);
  int rc;
  do {
    rc = ::fcntl(fd, F_OFD_SETLK, &range);
  } while (rc != 0 && errno == EINTR);
  if (rc == 0) return {};
  if (errno == EAGAIN || errno == EACCES) return held_by_others(what);
  return fail(ErrorCode::kInternal,
              fmt::format("{}: {} (errno {})", what, std::strerror(errno), errno));
}

}  // namespace

Status hold_ofd_byte(int fd, std::uint32_t byte) {
  return lock_range(fd, static_cast<off_t>(byte), 1, fmt::format("OFD lock of byte {}", byte));
}

Status hold_all_ofd_bytes(int fd) { return lock_range(fd, 0, 0, "OFD lock of all bytes"); }

Status check_no_ofd_byte(int fd) {
  struct flock range = write_lock(0, 0);
  const std::string what = "OFD lock of all bytes";
  if (::fcntl(fd, F_OFD_GETLK, &range) != 0)
    return fail(ErrorCode::kInternal,
                fmt::format("{}: {} (errno {})", what, std::strerror(errno), errno));
  if (range.l_type == F_UNLCK) return {};
  return held_by_others(what);
}

Status obtain_ofd_byte(int lun_fd, std::uint32_t byte, std::int64_t timeout_ms) {
  const std::string link = fmt::format("/proc/self/fd/{}", lun_fd);
  const UniqueFd fd(::open(link.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid())
    return fail(ErrorCode::kInternal,
                fmt::format("OFD lock of byte {}: cannot reopen {}: {} (errno {})", byte, link,
                            std::strerror(errno), errno));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    Status held = hold_ofd_byte(fd.get(), byte);
    if (held || held.error().code != ErrorCode::kBusy) return held;
    if (std::chrono::steady_clock::now() >= deadline) return held;
    std::this_thread::sleep_for(std::chrono::milliseconds(kOfdPollMs));
  }
}

}  // namespace symnas::cvm
