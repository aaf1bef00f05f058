#include "tests/conformance/cases/lock_calls.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/conformance/cases/case.h"
#include "tests/conformance/cases/files.h"

namespace conformance {
namespace {

struct Order {
  bool waits;
  short type;
  off_t start;
  off_t length;
};

bool granted(int fd, int command, const Order& order) {
  struct flock range {
    .l_type = order.type, .l_whence = SEEK_SET, .l_start = order.start, .l_len = order.length
  };
  if (fcntl(fd, command, &range) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) fail(errno_name(errno) + " at a lock");
  return false;
}

[[noreturn]] void obey(const std::string& path, int orders, int answers) {
  File file(path, O_RDWR);
  Order order;
  while (read(orders, &order, sizeof order) == sizeof order) {
    const char answer = granted(file, order.waits ? F_SETLKW : F_SETLK, order) ? 1 : 0;
    if (write(answers, &answer, 1) != 1) break;
  }
  _exit(0);
}

}  // namespace

bool lock(int fd, short type, off_t start, off_t length) {
  return granted(fd, F_SETLK, {false, type, start, length});
}

bool lock_ofd(int fd, short type, off_t start, off_t length) {
  return granted(fd, F_OFD_SETLK, {false, type, start, length});
}

struct flock seen_by_others(const std::string& path, off_t start, off_t length) {
  struct flock range {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length
  };
  int ends[2];
  MUST(pipe(ends));
  in_child([&] {
    File file(path, O_RDWR);
    MUST(fcntl(file, F_GETLK, &range));
    MUST(write(ends[1], &range, sizeof range));
  });
  EQUAL(sizeof range, MUST(read(ends[0], &range, sizeof range)));
  return range;
}

Other::Other(const std::string& path) {
  int orders[2], answers[2];
  MUST(pipe(orders));
  MUST(pipe(answers));
  pid_ = MUST(fork());
  if (pid_ == 0) {
    close(orders[1]);
    close(answers[0]);
    obey(path, orders[0], answers[1]);
  }
  close(orders[0]);
  close(answers[1]);
  orders_ = orders[1];
  answers_ = answers[0];
}

Other::~Other() { end(); }

void Other::end() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  close(orders_);
  close(answers_);
}

bool Other::lock(short type, off_t start, off_t length) {
  const Order order{false, type, start, length};
  MUST(write(orders_, &order, sizeof order));
  char answer = 0;
  EQUAL(1, MUST(read(answers_, &answer, 1)));
  return answer != 0;
}

void Other::begin_to_wait(short type, off_t start, off_t length) {
  const Order order{true, type, start, length};
  MUST(write(orders_, &order, sizeof order));
}

bool Other::has_it(useconds_t within_us) {
  pollfd answer{answers_, POLLIN, 0};
  if (MUST(poll(&answer, 1, static_cast<int>(within_us / 1000))) == 0) return false;
  char granted_now = 0;
  EQUAL(1, MUST(read(answers_, &granted_now, 1)));
  return granted_now != 0;
}

}  // namespace conformance
