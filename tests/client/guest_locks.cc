// guest_locks: processes that take fcntl locks and tell an arbiter outside NFS what they hold.
//
//   guest_locks DIRECTORY ARBITER-ADDRESS PORT NAME WORKERS STOP-FILE
//
// Each worker locks a slot of one of a few files (sometimes shared, sometimes the whole file,
// waiting for the lock or not), reports "enter", works, reports "leave" and unlocks, until
// STOP-FILE exists. The contents of the slots are checked too (guest_slots.h). Prints how many
// locks were granted and how many were refused. Exit status: 0; 1 a worker ended early, and prints
// why; 2 usage.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "guest_arbiter.h"
#include "guest_slots.h"

namespace {

using symnas::guest::Arbiter;
using symnas::guest::Slots;

constexpr int kFiles = 3;
constexpr int kSlots = 4;

struct Counts {
  std::uint64_t granted = 0;
  std::uint64_t refused = 0;
};

class Worker {
 public:
  Worker(std::string directory, const Arbiter& arbiter, unsigned seed)
      : directory_(std::move(directory)), arbiter_(arbiter), slots_(arbiter), chance_(seed) {}

  Counts run(const char* stop_file) {
    Counts counts;
    while (access(stop_file, F_OK) != 0) ++(one_lock() ? counts.granted : counts.refused);
    return counts;
  }

 private:
  int below(int limit) { return static_cast<int>(chance_() % static_cast<unsigned>(limit)); }

  void hold() {
    const int kind = below(20);
    const int ms = kind == 0 ? 2000 + below(6000) : kind < 4 ? 200 + below(800) : below(60);
    usleep(static_cast<useconds_t>(ms) * 1000);
  }

  bool one_lock() {
    const int number = below(kFiles);
    const std::string name = "locks" + std::to_string(number);
    const int fd = slots_.open_file(directory_ + "/" + name);
    const bool whole = below(10) == 0;
    const int first = whole ? 0 : below(kSlots);
    const int end = whole ? kSlots : first + 1;
    const bool shared = below(10) < 3;
    const bool waits = below(10) < 6;
    auto wanted =
        symnas::guest::range(static_cast<short>(shared ? F_RDLCK : F_WRLCK), first, end, whole);
    if (fcntl(fd, waits ? F_SETLKW : F_SETLK, &wanted) != 0) {
      if (errno != EAGAIN && errno != EACCES) arbiter_.fail("lock " + name);
      close(fd);
      return false;
    }
    const bool kept = slots_.stay_in(fd, name, first, end, shared, [this] { hold(); });
    wanted.l_type = F_UNLCK;
    if (kept && fcntl(fd, F_SETLK, &wanted) != 0) arbiter_.fail("unlock " + name);
    if (close(fd) != 0) arbiter_.fail("close " + name);
    return true;
  }

  const std::string directory_;
  const Arbiter& arbiter_;
  const Slots slots_;
  std::mt19937 chance_;
};

[[noreturn]] void run_worker(char** argv, int number) {
  const std::string name = std::string(argv[4]) + "." + std::to_string(number);
  const Arbiter arbiter(name, argv[2], argv[3]);
  Worker worker(argv[1], arbiter, static_cast<unsigned>(std::hash<std::string>{}(name)));
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
