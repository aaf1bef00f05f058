// guest_ranges: owners that hold many ranges of one file at the same time, and processes that close
// a file while another one opens it. They tell an arbiter outside NFS what they hold.
//
//   guest_ranges DIRECTORY ARBITER-ADDRESS PORT NAME STOP-FILE files|process|turns
//
// files: one process whose open files are owners of their own (F_OFD_SETLK). process: one owner
// (F_SETLK). Both lock further ranges of slots while they hold some, give parts of them back, make
// exclusive ones shared and the reverse, and close the file with or without unlocking. turns: two
// processes in turn open a file, lock a slot of it and close it; each opens it just as the other
// closes it. For NFSv4 both are one open owner, so CLOSE and OPEN of one open run at the same time.
// The contents of the slots are checked too (guest_slots.h). All of it until STOP-FILE exists.
// Prints how many locks were granted and how many were refused. Exit status: 0; 1 somebody ended
// early, and prints why; 2 usage.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "guest_arbiter.h"
#include "guest_slots.h"

namespace {

using symnas::guest::Arbiter;
using symnas::guest::Slots;

constexpr int kFiles = 2;
constexpr int kSlots = 64;
constexpr int kRangeSlotsMax = 5;
constexpr int kOpenFiles = 3;
constexpr int kTurnFiles = 2;
constexpr int kTurnSlots = 4;
constexpr int kTurnTries = 20;
constexpr useconds_t kTurnAgainUs = 50'000;
// In a VM with one emulated processor, the processes that read and write come first.
constexpr int kNice = 10;

struct Counts {
  std::uint64_t granted = 0;
  std::uint64_t refused = 0;
};

struct Chance {
  explicit Chance(const std::string& name)
      : numbers(static_cast<unsigned>(std::hash<std::string>{}(name))) {}
  int below(int limit) { return static_cast<int>(numbers() % static_cast<unsigned>(limit)); }
  bool one_in(int count) { return below(count) == 0; }
  void pause(int ms_max) { usleep(static_cast<useconds_t>(below(ms_max)) * 1000); }

  std::mt19937 numbers;
};

bool is_refusal(int error) { return error == EAGAIN || error == EACCES; }

// An owner of ranges of one open file.
class Owner {
 public:
  Owner(const std::string& name, char** argv, bool is_file)
      : arbiter_(name, argv[2], argv[3]), slots_(arbiter_), is_file_(is_file) {}

  void open_file(const std::string& directory, std::string name) {
    name_ = std::move(name);
    fd_ = slots_.open_file(directory + "/" + name_);
  }

  bool holds_nothing() const {
    return std::all_of(held_.begin(), held_.end(), [](Held held) { return held == Held::kNot; });
  }

  // Locks the slots, even if it holds some of them already. False: refused.
  bool lock(int first, int end, bool shared, bool to_the_end, bool waits) {
    const auto begin = held_.begin() + first;
    const auto finish = held_.begin() + end;
    const bool some_exclusive = std::count(begin, finish, Held::kExclusive) > 0;
    const bool all_exclusive = std::count(begin, finish, Held::kExclusive) == end - first;
    if (shared && some_exclusive && !all_exclusive) shared = false;
    // Others may get a shared lock before this owner learns that its own lock has become shared.
    const bool weaker = shared && all_exclusive;
    if (weaker) arbiter_.tell("enter " + what(first, end) + " shared");
    if (!change(static_cast<short>(shared ? F_RDLCK : F_WRLCK), first, end, to_the_end, waits)) {
      if (!is_refusal(errno)) arbiter_.fail("lock " + what(first, end));
      if (weaker) arbiter_.lost("what is held exclusively cannot be shared");
      return false;
    }
    std::fill(begin, finish, shared ? Held::kShared : Held::kExclusive);
    if (!weaker) says_[at(first)] = slots_.enter(fd_, name_, first, end, shared);
    return true;
  }

  // Unlocks those of the slots that it holds.
  void unlock(int first, int end) {
    const auto begin = held_.begin() + first;
    const auto finish = held_.begin() + end;
    if (std::count(begin, finish, Held::kNot) == end - first) return;
    arbiter_.tell("leave " + what(first, end));
    if (!change(F_UNLCK, first, end, end == kSlots, false))
      arbiter_.fail("unlock " + what(first, end));
    std::fill(begin, finish, Held::kNot);
    std::fill(says_.begin() + first, says_.begin() + end, std::nullopt);
  }

  // Checks that a slot it holds has the expected content.
  void look(int slot) {
    if (held_[at(slot)] == Held::kNot) return;
    if (const auto& count = says_[at(slot)])
      slots_.expect(fd_, slot, *count);
    else
      says_[at(slot)] = slots_.count_in(fd_, slot);
  }

  // The kernel unlocks what the owner still holds.
  void close_file() {
    arbiter_.tell("leave");
    held_.fill(Held::kNot);
    says_.fill(std::nullopt);
    if (close(fd_) != 0) arbiter_.fail("close " + name_);
  }

 private:
  enum class Held { kNot, kShared, kExclusive };

  static std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

  std::string what(int first, int end) const {
    return name_ + " " + std::to_string(first) + " " + std::to_string(end);
  }

  bool change(short type, int first, int end, bool to_the_end, bool waits) const {
    auto wanted = symnas::guest::range(type, first, end, to_the_end);
    const int tries = is_file_ ? F_OFD_SETLK : F_SETLK;
    return fcntl(fd_, waits ? is_file_ ? F_OFD_SETLKW : F_SETLKW : tries, &wanted) == 0;
  }

  const Arbiter arbiter_;
  const Slots slots_;
  const bool is_file_;
  std::string name_;
  int fd_ = -1;
  std::array<Held, kSlots> held_{};
  std::array<std::optional<std::uint64_t>, kSlots> says_{};
};

// One process with one owner of ranges, or several.
class Holder {
 public:
  Holder(char** argv, int owners, bool is_file) : directory_(argv[1]), chance_(argv[4]) {
    for (int number = 0; number < owners; ++number)
      owners_.push_back(std::make_unique<Owner>(std::string(argv[4]) + "." + std::to_string(number),
                                                argv, is_file));
  }

  Counts run(const char* stop_file) {
    while (access(stop_file, F_OK) != 0) {
      const std::string name = "ranges" + std::to_string(chance_.below(kFiles));
      for (const auto& owner : owners_) owner->open_file(directory_, name);
      for (int steps = 20 + chance_.below(60); steps > 0 && access(stop_file, F_OK) != 0; --steps) {
        step(*owners_[static_cast<std::size_t>(chance_.below(static_cast<int>(owners_.size())))]);
        chance_.pause(chance_.one_in(20) ? 4000 : 900);
      }
      for (const auto& owner : owners_) {
        if (chance_.one_in(2)) owner->unlock(0, kSlots);
        owner->close_file();
      }
    }
    return counts_;
  }

 private:
  void step(Owner& owner) {
    const bool to_the_end = chance_.one_in(15);
    const int first = chance_.below(kSlots);
    const int end =
        to_the_end ? kSlots : std::min(kSlots, first + 1 + chance_.below(kRangeSlotsMax));
    switch (chance_.below(6)) {
      case 0:
      case 1: return owner.unlock(first, end);
      case 2: return owner.look(first);
      default: break;
    }
    // Only an owner that holds nothing waits for a lock: so no two wait for each other.
    const bool waits =
        chance_.one_in(3) && std::all_of(owners_.begin(), owners_.end(),
                                         [](const auto& one) { return one->holds_nothing(); });
    ++(owner.lock(first, end, chance_.below(10) < 4, to_the_end, waits) ? counts_.granted
                                                                        : counts_.refused);
  }

  const std::string directory_;
  Chance chance_;
  Counts counts_;
  std::vector<std::unique_ptr<Owner>> owners_;
};

// One of two processes that open a file in turn.
class Turns {
 public:
  Turns(char** argv, int number, int my_turn, int your_turn)
      : directory_(argv[1]),
        name_(std::string(argv[4]) + "." + std::to_string(number)),
        my_turn_(my_turn),
        your_turn_(your_turn),
        arbiter_(name_, argv[2], argv[3]),
        slots_(arbiter_),
        chance_(name_) {}

  Counts run(const char* stop_file) {
    // The file stays the same until both processes have had it: one opens what the other closes.
    for (unsigned turn = 0;; ++turn) {
      char token = 0;
      if (read(my_turn_, &token, 1) != 1 || access(stop_file, F_OK) == 0) break;
      one_turn("turns" + std::to_string(turn / 16 % kTurnFiles));
    }
    pass_on();
    return counts_;
  }

 private:
  void pass_on() const {
    if (write(your_turn_, "t", 1) != 1 && errno != EPIPE) arbiter_.fail("pipe");
  }

  void one_turn(const std::string& name) {
    const int fd = slots_.open_file(directory_ + "/" + name);
    const int slot = chance_.below(kTurnSlots);
    auto wanted = symnas::guest::range(F_WRLCK, slot, slot + 1, false);
    int tries = 0;
    while (fcntl(fd, F_SETLK, &wanted) != 0 && ++tries < kTurnTries) {
      if (!is_refusal(errno)) arbiter_.fail("lock " + name);
      usleep(kTurnAgainUs);
    }
    if (tries < kTurnTries) {
      ++counts_.granted;
      const bool kept = slots_.stay_in(fd, name, slot, slot + 1, false, [this] {
        chance_.pause(600);
        arbiter_.tell("beside");
      });
      wanted.l_type = F_UNLCK;
      if (kept && chance_.one_in(2) && fcntl(fd, F_SETLK, &wanted) != 0)
        arbiter_.fail("unlock " + name);
    } else {
      ++counts_.refused;
    }
    pass_on();
    if (chance_.one_in(2)) chance_.pause(5);
    if (close(fd) != 0) arbiter_.fail("close " + name);
  }

  const std::string directory_;
  const std::string name_;
  const int my_turn_;
  const int your_turn_;
  const Arbiter arbiter_;
  const Slots slots_;
  Chance chance_;
  Counts counts_;
};

void print(const char* name, const Counts& counts) {
  std::printf("%s: %llu granted, %llu refused\n", name,
              static_cast<unsigned long long>(counts.granted),
              static_cast<unsigned long long>(counts.refused));
  std::fflush(stdout);
}

// Each process keeps only the ends of the pipes that it uses: when the other process ends, its pipe
// ends.
int take_turns(char** argv) {
  int first[2];
  int second[2];
  if (pipe(first) != 0 || pipe(second) != 0) return 1;
  if (write(first[1], "t", 1) != 1) return 1;
  const pid_t child = fork();
  if (child == 0) {
    close(first[0]);
    close(second[1]);
    print(argv[4], Turns(argv, 1, second[0], first[1]).run(argv[5]));
    _exit(0);
  }
  close(first[1]);
  close(second[0]);
  print(argv[4], Turns(argv, 0, first[0], second[1]).run(argv[5]));
  close(second[1]);
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 7 ? argv[6] : "";
  if (nice(kNice) == -1) std::perror("nice");
  if (kind == "turns") {
    signal(SIGPIPE, SIG_IGN);
    return take_turns(argv);
  }
  if (kind != "files" && kind != "process") {
    std::fprintf(stderr,
                 "usage: guest_ranges DIRECTORY ARBITER-ADDRESS PORT NAME STOP-FILE "
                 "files|process|turns\n");
    return 2;
  }
  const bool is_file = kind == "files";
  print(argv[4], Holder(argv, is_file ? kOpenFiles : 1, is_file).run(argv[5]));
  return 0;
}
