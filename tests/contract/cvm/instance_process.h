// InstanceProcess: a child process that opens a volume as an instance does, and writes 64 KiB of
// 'W' at its beginning when told. Fork it before this process has threads. Thread-compatible;
// killed and reaped with the object.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/unique_fd.h"
#include "cvm/io/open_volume.h"
#include "cvm/limits.h"

namespace symnas::cvm {

inline constexpr std::uint32_t kInstanceByte = 7;
inline constexpr int kInstanceDeadlineMs = 10'000;

class InstanceProcess {
 public:
  explicit InstanceProcess(EngineChoice engine) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[1]);
      run(ends[0], engine);
    }
    ::close(ends[0]);
    orders_ = UniqueFd(ends[1]);
  }
  ~InstanceProcess() {
    kill();
    wait_for_reap(kInstanceDeadlineMs);
  }

  void start(const std::string& lun_path, const Uuid& lun, const records::VolumeRecord& record) {
    std::string orders = lun_path + '\n' + lun.to_string() + '\n' + record.SerializeAsString();
    EXPECT_EQ(::write(orders_.get(), orders.data(), orders.size()),
              static_cast<ssize_t>(orders.size()));
    orders_.reset();
  }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  // Whether the process has been reaped within the time. io_uring: at once; POSIX: when its write
  // has ended.
  bool wait_for_reap(int timeout_ms) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (pid_ > 0) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_)
        pid_ = -1;
      else if (std::chrono::steady_clock::now() > deadline)
        return false;
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

 private:
  [[noreturn]] static void run(int orders_fd, EngineChoice engine) {
    std::string orders;
    char piece[4096];
    for (ssize_t got; (got = ::read(orders_fd, piece, sizeof piece)) > 0;)
      orders.append(piece, static_cast<std::size_t>(got));
    const std::size_t path_end = orders.find('\n');
    const std::size_t uuid_end = orders.find('\n', path_end + 1);
    if (uuid_end == std::string::npos) ::_exit(1);
    records::VolumeRecord record;
    record.ParseFromString(orders.substr(uuid_end + 1));
    const LunPath lun{"LUN0", *Uuid::parse(orders.substr(path_end + 1, uuid_end - path_end - 1)),
                      orders.substr(0, path_end)};
    const auto volume =
        open_volume(record, std::span(&lun, 1), {.ofd_byte = kInstanceByte, .engine = engine});
    if (!volume) {
      std::fprintf(stderr, "instance: %s\n", volume.error().message.c_str());
      ::_exit(2);
    }
    const Buffer data = (*volume)->buffer(64 * kKiB);
    std::memset(data.data(), 'W', data.size_bytes());
    (*volume)->write(VolumeOffset(0), data.span(), Durability::kStable, [](Status) {});
    for (;;) ::pause();
  }

  pid_t pid_ = -1;
  UniqueFd orders_;
};

}  // namespace symnas::cvm
