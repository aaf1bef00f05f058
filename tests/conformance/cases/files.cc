#include "tests/conformance/cases/files.h"

#include <dirent.h>

#include <algorithm>

#include "tests/conformance/cases/case.h"

namespace conformance {

void make(const std::string& path, mode_t mode, const std::string& text) {
  File file(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
  if (!text.empty()) put(file, text, 0);
}

void make_directory(const std::string& path, mode_t mode) { MUST(mkdir(path.c_str(), mode)); }

void give(const std::string& path, uid_t uid, gid_t gid) { MUST(lchown(path.c_str(), uid, gid)); }

void set_mode(const std::string& path, mode_t mode) { MUST(chmod(path.c_str(), mode)); }

struct stat stat_of(const std::string& path) {
  struct stat found;
  if (lstat(path.c_str(), &found) != 0) fail(errno_name(errno) + " at stat of " + path);
  return found;
}

struct stat stat_of(int fd) {
  struct stat found;
  MUST(fstat(fd, &found));
  return found;
}

mode_t mode_of(const std::string& path) { return stat_of(path).st_mode & 07777; }

bool exists(const std::string& path) {
  struct stat found;
  if (lstat(path.c_str(), &found) == 0) return true;
  if (errno != ENOENT) fail(errno_name(errno) + " at stat of " + path);
  return false;
}

std::string content(int fd, off_t from, std::size_t length) {
  std::string bytes(length, '\0');
  std::size_t done = 0;
  while (done < length) {
    const ssize_t n =
        MUST(pread(fd, bytes.data() + done, length - done, from + static_cast<off_t>(done)));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

std::string content(const std::string& path) {
  File file(path, O_RDONLY);
  return content(file, 0, static_cast<std::size_t>(stat_of(file).st_size));
}

void put(int fd, const std::string& text, off_t at) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n =
        MUST(pwrite(fd, text.data() + done, text.size() - done, at + static_cast<off_t>(done)));
    done += static_cast<std::size_t>(n);
  }
}

std::string pattern(std::size_t length, unsigned seed) {
  std::string bytes(length, '\0');
  for (char& byte : bytes) {
    seed = seed * 1'103'515'245u + 12'345u;
    byte = static_cast<char>(seed >> 16);
  }
  return bytes;
}

std::string fresh(const std::string& path) {
  {
    File file(path, O_RDONLY);
    MUST(fsync(file));
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  }
  return content(path);
}

std::vector<std::string> names_in(const std::string& path) {
  DIR* const folder = opendir(path.c_str());
  if (!folder) fail(errno_name(errno) + " at opendir of " + path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) fail(errno_name(errno) + " at readdir of " + path);
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

File::File(const std::string& path, int flags, mode_t mode) : fd_(open(path.c_str(), flags, mode)) {
  if (fd_ < 0) fail(errno_name(errno) + " at open of " + path);
}

File::~File() {
  if (fd_ >= 0) close();
}

void File::close() {
  const int fd = fd_;
  fd_ = -1;
  MUST(::close(fd));
}

}  // namespace conformance
