#include "vnfsd/metrics/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/core.h>

#include "common/base/unique_fd.h"

namespace symnas::vnfsd::metrics {
namespace {

tl::unexpected<Error> failed(const std::string& path, const char* what) {
  return fail(ErrorCode::kIo, fmt::format("file {}: {}: {}", path, what, std::strerror(errno)));
}

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

Status make_page_directory(const std::string& directory) {
  // chmod: whatever the umask is.
  if ((::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) ||
      ::chmod(directory.c_str(), 0755) != 0) {
    return failed(directory, "making the directory");
  }
  return {};
}

Status write_page(const std::string& directory, const std::string& text) {
  const std::string path = directory + "/" + kPageName;
  const std::string fresh = path + ".new";
  const UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid() || ::fchmod(fd.get(), 0644) != 0) return failed(fresh, "creating");
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t done = ::write(fd.get(), rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return failed(fresh, "writing");
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return failed(path, "replacing");
  return {};
}

Result<PageRead> read_page(const std::string& directory) {
  const std::string path = directory + "/" + kPageName;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) {
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("file {}: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  timespec now{};
  if (::fstat(fd.get(), &status) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0)
    return failed(path, "looking at it");
  PageRead page;
  page.age_s = std::max(seconds(now) - seconds(status.st_mtim), 0.0);
  page.text.resize(static_cast<std::size_t>(status.st_size));
  std::size_t size = 0;
  while (size < page.text.size()) {
    const ssize_t got = ::read(fd.get(), page.text.data() + size, page.text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed(path, "reading");
    size += static_cast<std::size_t>(got);
  }
  return page;
}

}  // namespace symnas::vnfsd::metrics
