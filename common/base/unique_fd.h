// UniqueFd: owns one file descriptor. Thread class: thread-compatible, move-only.
#pragma once

#include <unistd.h>

#include <utility>

namespace symnas {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    UniqueFd moved(std::move(other));
    std::swap(fd_, moved.fd_);
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Gives up ownership: returns the descriptor without closing it.
  int release() { return std::exchange(fd_, -1); }
  // Closes it now. close(2): the descriptor is gone even when an error is returned.
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace symnas
