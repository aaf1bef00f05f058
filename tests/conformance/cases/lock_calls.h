// Locks, and another process that takes them. Confined to one thread.
#pragma once
#include <fcntl.h>
#include <sys/types.h>

#include <string>

namespace conformance {

// F_SETLK, F_OFD_SETLK: whether it was granted. Any error but a conflict ends the case.
bool lock(int fd, short type, off_t start, off_t length);
bool lock_ofd(int fd, short type, off_t start, off_t length);

// What F_GETLK for writing says to another process.
struct flock seen_by_others(const std::string& path, off_t start, off_t length);

// A process with the file open for reading and writing; it ends with the object.
class Other {
 public:
  explicit Other(const std::string& path);
  ~Other();
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  bool lock(short type, off_t start, off_t length);
  // It waits from now on (F_SETLKW).
  void begin_to_wait(short type, off_t start, off_t length);
  // Whether what it waits for comes within that time.
  bool has_it(useconds_t within_us);
  // Ends the process.
  void end();

 private:
  pid_t pid_ = -1;
  int orders_ = -1;
  int answers_ = -1;
};

}  // namespace conformance
