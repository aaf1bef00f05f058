// Short words for what most cases do. Whatever fails ends the case. Confined to one thread.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace conformance {

// Makes a file that contains text.
void make(const std::string& path, mode_t mode = 0644, const std::string& text = "");
void make_directory(const std::string& path, mode_t mode = 0755);
void give(const std::string& path, uid_t uid, gid_t gid);  // lchown
void set_mode(const std::string& path, mode_t mode);

struct stat stat_of(const std::string& path);  // lstat
struct stat stat_of(int fd);
mode_t mode_of(const std::string& path);  // 07777
bool exists(const std::string& path);

std::string content(const std::string& path);
std::string content(int fd, off_t from, std::size_t length);  // pread, all of it up to the end
void put(int fd, const std::string& text, off_t at);          // pwrite, all of it
// As somebody sees it who opens it anew, around this client's cache.
std::string fresh(const std::string& path);
std::string pattern(std::size_t length, unsigned seed = 1);  // bytes that do not repeat
std::vector<std::string> names_in(const std::string& path);  // sorted, without . and ..

// An open file, closed at its end; -1 ends the case.
class File {
 public:
  File(const std::string& path, int flags, mode_t mode = 0644);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  operator int() const { return fd_; }
  void close();

 private:
  int fd_;
};

}  // namespace conformance
