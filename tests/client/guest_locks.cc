// guest_locks: processes that take fcntl locks and tell an arbiter outside NFS what they hold.
//
//   guest_locks DIRECTORY ARBITER-ADDRESS PORT NAME WORKERS STOP-FILE
//
// Each worker locks a slot of one of a few files (sometimes shared, sometimes the whole file,
// waiting for it or not), says "enter", works, says "leave" and unlocks, until STOP-FILE exists.
// The bytes of a slot count its exclusive holders; the arbiter knows how many there were, so that a
// lost or an old write is seen as well. A line to the arbiter is answered by "ok ...", or by
// anything else, which ends the worker (tests/lab/arbiter.py has the words).
// Prints how many locks were granted and how many were refused. Exit status: 0; 1 a worker ended
// early, and says why; 2 usage.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>

namespace {

constexpr int kFiles = 3;
constexpr int kSlots = 4;
constexpr std::size_t kSlotBytes = 4096;
constexpr int kOpenTries = 20;
constexpr useconds_t kOpenAgainUs = 500'000;

struct Counts {
  std::uint64_t granted = 0;
  std::uint64_t refused = 0;
};

class Worker {
 public:
  Worker(std::string directory, std::string name, unsigned seed)
      : directory_(std::move(directory)), name_(std::move(name)), chance_(seed) {
    void* memory = nullptr;
    if (posix_memalign(&memory, kSlotBytes, kSlotBytes) != 0) fail("no memory");
    block_ = static_cast<char*>(memory);
  }

  void connect_to(const char* address, const char* port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1) fail("no address");
    arbiter_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(arbiter_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(arbiter_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) fail("connect");
    tell("hello " + name_);
  }

  Counts run(const char* stop_file) {
    Counts counts;
    while (access(stop_file, F_OK) != 0) ++(one_lock() ? counts.granted : counts.refused);
    return counts;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::printf("guest_locks %s: %s: %s\n", name_.c_str(), what.c_str(), std::strerror(errno));
    std::fflush(stdout);
    _exit(1);
  }

  int below(int limit) { return static_cast<int>(chance_() % static_cast<unsigned>(limit)); }

  // Returns the words after "ok".
  std::string tell(const std::string& line) {
    const std::string sent = line + "\n";
    if (write(arbiter_, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size()))
      fail("arbiter");
    std::string answer;
    for (char c = 0; read(arbiter_, &c, 1) == 1;) {
      if (c == '\n') {
        if (answer.rfind("ok", 0) == 0) return answer.size() > 3 ? answer.substr(3) : "";
        break;
      }
      answer += c;
    }
    std::printf("guest_locks %s: %s: %s\n", name_.c_str(), line.c_str(), answer.c_str());
    std::fflush(stdout);
    _exit(1);
  }

  // A name may be opened while its server is away: the mount is hard, so this waits. Files are made
  // by whoever comes first.
  int open_file(const std::string& path) {
    for (int attempt = 0;; ++attempt) {
      const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
      if (fd >= 0) return fd;
      if (attempt == kOpenTries) fail("open " + path);
      usleep(kOpenAgainUs);
    }
  }

  std::uint64_t count_in(int fd, int slot) {
    std::memset(block_, 0, kSlotBytes);
    if (pread(fd, block_, kSlotBytes, static_cast<off_t>(slot) * kSlotBytes) < 0)
      lost("read under a lock");
    std::uint64_t count = 0;
    std::memcpy(&count, block_, sizeof count);
    return count;
  }

  void write_count(int fd, int slot, std::uint64_t count) {
    std::memset(block_, 0, kSlotBytes);
    std::memcpy(block_, &count, sizeof count);
    const off_t at = static_cast<off_t>(slot) * kSlotBytes;
    if (pwrite(fd, block_, kSlotBytes, at) != static_cast<ssize_t>(kSlotBytes))
      lost("write under a lock");
  }

  // The lock is gone, says the kernel: EIO for whatever needs it (fs/nfs/nfs4state.c).
  [[noreturn]] void lost(const std::string& what) {
    const int error = errno;
    stop_trace(what);
    tell("lost " + what + ": " + std::strerror(error));
    errno = error;
    fail(what);
  }

  // So that what led to it stays in the kernel's buffer, where there is one.
  void stop_trace(const std::string& what) const {
    write_to("/sys/kernel/tracing/trace_marker", name_ + ": " + what);
    write_to("/sys/kernel/tracing/tracing_on", "0");
  }

  static void write_to(const char* path, const std::string& text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, text.data(), text.size()) < 0) perror(path);
    close(fd);
  }

  void hold() {
    const int kind = below(20);
    const int ms = kind == 0 ? 2000 + below(6000) : kind < 4 ? 200 + below(800) : below(60);
    usleep(static_cast<useconds_t>(ms) * 1000);
  }

  bool one_lock() {
    const int number = below(kFiles);
    const std::string name = "locks" + std::to_string(number);
    const int fd = open_file(directory_ + "/" + name);
    const bool whole = below(10) == 0;
    const int slot = whole ? 0 : below(kSlots);
    const bool shared = below(10) < 3;
    const bool waits = below(10) < 6;
    struct flock wanted {};
    wanted.l_type = static_cast<short>(shared ? F_RDLCK : F_WRLCK);
    wanted.l_whence = SEEK_SET;
    wanted.l_start = static_cast<off_t>(slot) * kSlotBytes;
    wanted.l_len = whole ? 0 : kSlotBytes;  // 0: to the end
    if (fcntl(fd, waits ? F_SETLKW : F_SETLK, &wanted) != 0) {
      if (errno != EAGAIN && errno != EACCES) fail("lock " + name);
      close(fd);
      return false;
    }
    const int first = slot;
    const int end = whole ? kSlots : slot + 1;
    work(fd, name, first, end, shared);
    wanted.l_type = F_UNLCK;
    if (fcntl(fd, F_SETLK, &wanted) != 0) fail("unlock " + name);
    if (close(fd) != 0) fail("close " + name);
    return true;
  }

  // The slot that is counted is the first one of what is locked.
  void work(int fd, const std::string& name, int first, int end, bool shared) {
    const std::string what = name + " " + std::to_string(first) + " " + std::to_string(end);
    const std::uint64_t before = std::strtoull(
        tell("enter " + what + (shared ? " shared" : " exclusive")).c_str(), nullptr, 10);
    expect(fd, first, before);
    if (!shared) write_count(fd, first, before + 1);
    hold();
    expect(fd, first, shared ? before : before + 1);
    tell("leave");
  }

  void expect(int fd, int slot, std::uint64_t count) {
    const std::uint64_t seen = count_in(fd, slot);
    if (seen == count) return;
    tell("corrupt slot " + std::to_string(slot) + " says " + std::to_string(seen) + " instead of " +
         std::to_string(count));
  }

  const std::string directory_;
  const std::string name_;
  std::mt19937 chance_;
  char* block_ = nullptr;
  int arbiter_ = -1;
};

[[noreturn]] void run_worker(char** argv, int number) {
  const std::string name = std::string(argv[4]) + "." + std::to_string(number);
  Worker worker(argv[1], name, static_cast<unsigned>(std::hash<std::string>{}(name)));
  worker.connect_to(argv[2], argv[3]);
  const Counts counts = worker.run(argv[6]);
  std::printf("%s: %llu granted, %llu refused\n", name.c_str(),
              static_cast<unsigned long long>(counts.granted),
              static_cast<unsigned long long>(counts.refused));
  std::fflush(stdout);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: guest_locks DIRECTORY ARBITER-ADDRESS PORT NAME WORKERS STOP-FILE\n");
    return 2;
  }
  const int workers = std::atoi(argv[5]);
  for (int number = 0; number < workers; ++number) {
    if (fork() == 0) run_worker(argv, number);
  }
  int worst = 0;
  for (int status = 0; wait(&status) > 0;) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) worst = 1;
  }
  return worst;
}
