#include "vnfsd/instance/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

#include "common/base/unique_fd.h"

namespace symnas::vnfsd::instance {
namespace {

tl::unexpected<Error> failed(const std::string& path, const char* what, int error) {
  return fail(ErrorCode::kIo, fmt::format("file {}: {}: {}", path, what, std::strerror(error)));
}

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(path, "writing", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Status write_file_atomically(const std::string& path, const std::string& text, mode_t mode) {
  const std::string temporary = path + ".new";
  ::unlink(temporary.c_str());  // left by a crash; O_EXCL below keeps its mode from counting
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd.valid()) return failed(temporary, "creating", errno);
  SYMNAS_TRY(write_all(fd.get(), text, temporary));
  if (::fsync(fd.get()) != 0) return failed(temporary, "syncing", errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed(path, "replacing", errno);
  return {};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kNotFound, fmt::format("file {}: cannot be opened", path));
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return failed(path, "reading", EIO);
  return text.str();
}

Status make_directories(const std::string& path) {
  std::string prefix;
  std::istringstream parts(path);
  std::string part;
  while (std::getline(parts, part, '/')) {
    if (part.empty()) continue;
    prefix += "/" + part;
    if (::mkdir(prefix.c_str(), 0700) != 0 && errno != EEXIST) {
      return failed(prefix, "making the directory", errno);
    }
  }
  return {};
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return failed(path, "removing", error.value());
  return {};
}

std::string lines_of(const std::string& path) {
  std::string text = read_file(path).value_or("");
  while (text.ends_with('\n')) text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text.replace(at, 1, "; ");
  return text;
}

}  // namespace symnas::vnfsd::instance
