#include "vnfsd/instance/instance_log.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "common/base/unique_fd.h"

namespace symnas::vnfsd::instance {
namespace {

bool copy(int from, const std::string& to, off_t bytes) {
  const UniqueFd fd(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
  if (!fd.valid()) return false;
  for (off_t at = 0; at < bytes;) {
    const ssize_t size = ::sendfile(fd.get(), from, &at, static_cast<std::size_t>(bytes - at));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return size == 0;
  }
  return true;
}

}  // namespace

std::string former_log(const std::string& path) { return path + ".former"; }

Result<bool> bound_log(const std::string& path, std::int64_t bytes_max) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || status.st_size <= bytes_max) return false;
  if (!copy(fd.get(), former_log(path), status.st_size)) ::unlink(former_log(path).c_str());
  if (::ftruncate(fd.get(), 0) == 0) return true;
  return fail(ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace symnas::vnfsd::instance
