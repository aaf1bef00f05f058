// HeldFile: a file on a FUSE filesystem in this process. Its WRITEs wait until the test lets them
// go: a device with I/O in flight for as long as wanted. Thread-safe. Source: linux/fuse.h,
// fuse(4).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace symnas::cvm {

class HeldFile {
 public:
  // Mounts on `directory` a filesystem with one file, `path()`. Errors: kUnavailable: no root, no
  // FUSE.
  static Result<std::unique_ptr<HeldFile>> mount(const std::string& directory,
                                                 std::uint64_t size_bytes);
  // Lets go and unmounts.
  ~HeldFile();

  std::string path() const { return directory_ + "/lun"; }

  // From now on WRITEs wait.
  void hold();
  // Executes the WRITEs that wait; from now on none waits.
  void let_go();
  // Waits until a WRITE is held. False: none was within `timeout_ms`.
  bool wait_for_held(int timeout_ms);
  // What is on the medium.
  std::string content(std::uint64_t offset, std::size_t bytes);

 private:
  HeldFile() = default;
  void serve();
  void handle(const std::vector<char>& request);
  void reply(std::uint64_t unique, int error, const void* data, std::size_t bytes);
  void write(const std::vector<char>& request);
  void attributes(void* attr) const;

  std::string directory_;
  UniqueFd device_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool holding_ = false;                 // guarded by mutex_
  std::vector<std::vector<char>> held_;  // WRITE requests; guarded by mutex_
  std::string content_;                  // guarded by mutex_
};

}  // namespace symnas::cvm
