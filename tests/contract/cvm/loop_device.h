// Loop devices for tests, through loop(4) itself. Thread-compatible; detached with the object.
#pragma once

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace symnas::cvm {

class LoopDevice {
 public:
  // Attaches a free loop device to `file`. Errors: kUnavailable: this machine gives none (no root,
  // no driver).
  static Result<LoopDevice> attach(const std::string& file) {
    const auto unavailable = [](const char* what) {
      return fail(ErrorCode::kUnavailable,
                  std::string("no loop devices here: ") + what + ": " + std::strerror(errno));
    };
    const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    if (!control.valid()) return unavailable("/dev/loop-control");
    const UniqueFd backing(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!backing.valid()) return unavailable(file.c_str());
    for (int tries = 0; tries < 100; ++tries) {  // others attach loop devices, too
      const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
      if (number < 0) return unavailable("LOOP_CTL_GET_FREE");
      LoopDevice loop;
      loop.path_ = "/dev/loop" + std::to_string(number);
      loop.fd_ = UniqueFd(::open(loop.path_.c_str(), O_RDWR | O_CLOEXEC));
      if (!loop.fd_.valid()) return unavailable(loop.path_.c_str());
      struct loop_config config {};
      config.fd = static_cast<__u32>(backing.get());
      if (::ioctl(loop.fd_.get(), LOOP_CONFIGURE, &config) == 0) return loop;
      loop.fd_.reset();
      if (errno != EBUSY) return unavailable("LOOP_CONFIGURE");
    }
    return unavailable("LOOP_CONFIGURE");
  }
  LoopDevice(LoopDevice&&) = default;
  LoopDevice& operator=(LoopDevice&&) = delete;
  ~LoopDevice() {
    // Takes effect when the last opener closes.
    if (fd_.valid()) ::ioctl(fd_.get(), LOOP_CLR_FD, 0);
  }
  const std::string& path() const { return path_; }

 private:
  LoopDevice() = default;
  std::string path_;
  UniqueFd fd_;
};

}  // namespace symnas::cvm
