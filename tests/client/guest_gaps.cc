// guest_gaps: how long the Linux client makes a process wait, for each file.
//
//   guest_gaps NOTED-MS PAUSE-US STOP-FILE FILE...
//   guest_gaps now
//
// One process per FILE reads and writes blocks of it in turn (O_DIRECT, in place, 8 KiB) until
// STOP-FILE exists. For each gap between two results of NOTED-MS and more it prints "gap FILE END
// MS", END in seconds since 1970 by this machine's clock, which `now` prints. Exit status: 0; 1 a
// call failed (printed); 2 usage.
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kBlockBytes = 8192;
constexpr int kBlocks = 32;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

[[noreturn]] void fail(const char* what, const char* path) {
  std::printf("guest_gaps: %s %s: %s\n", what, path, std::strerror(errno));
  std::fflush(stdout);
  _exit(1);
}

[[noreturn]] void measure(const char* path, const char* stop_file, double noted_ms,
                          useconds_t pause_us) {
  const int fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
  if (fd < 0) fail("open", path);
  void* block = nullptr;
  if (posix_memalign(&block, kBlockBytes, kBlockBytes) != 0) fail("allocate for", path);
  std::memset(block, 'g', kBlockBytes);
  for (int i = 0; i < kBlocks; ++i) {
    if (pwrite(fd, block, kBlockBytes, static_cast<off_t>(i) * kBlockBytes) < 0)
      fail("write", path);
  }
  double last = seconds(CLOCK_MONOTONIC);
  for (unsigned i = 0; access(stop_file, F_OK) != 0; ++i) {
    const off_t at = static_cast<off_t>(i * 7 % kBlocks) * kBlockBytes;
    const ssize_t n =
        i % 2 == 0 ? pread(fd, block, kBlockBytes, at) : pwrite(fd, block, kBlockBytes, at);
    if (n != static_cast<ssize_t>(kBlockBytes)) fail(i % 2 == 0 ? "read" : "write", path);
    const double now = seconds(CLOCK_MONOTONIC);
    const double ms = (now - last) * 1e3;
    last = now;
    if (ms >= noted_ms) {
      std::printf("gap %s %.3f %.1f\n", path, seconds(CLOCK_REALTIME), ms);
      std::fflush(stdout);
    }
    usleep(pause_us);
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "now") == 0) {
    std::printf("%.6f\n", seconds(CLOCK_REALTIME));
    return 0;
  }
  if (argc < 5) {
    std::fprintf(stderr, "usage: guest_gaps NOTED-MS PAUSE-US STOP-FILE FILE... | now\n");
    return 2;
  }
  for (int i = 4; i < argc; ++i) {
    if (fork() == 0)
      measure(argv[i], argv[3], std::atof(argv[1]), static_cast<useconds_t>(std::atoi(argv[2])));
  }
  int worst = 0;
  for (int status = 0; wait(&status) > 0;) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) worst = 1;
  }
  return worst;
}
