#include "cvm/io/engine.h"

#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "cvm/io/limits.h"

namespace symnas::cvm {

Progress advance_io(LunIo& io, std::int64_t result, int& error_number) {
  error_number = 0;
  if (result == -EAGAIN || result == -EINTR) {
    if (++io.retries <= kPartRetriesMax) return Progress::kAgain;
    error_number = static_cast<int>(-result);
    return Progress::kDone;
  }
  if (result < 0) {
    error_number = static_cast<int>(-result);
    return Progress::kDone;
  }
  if (io.kind == IoKind::kFlush || io.kind == IoKind::kNone) return Progress::kDone;
  if (result == 0) {
    error_number = ENODATA;
    return Progress::kDone;
  }
  io.done_bytes += static_cast<std::uint32_t>(result);
  return io.done_bytes < io.length_bytes ? Progress::kAgain : Progress::kDone;
}

namespace {

std::int64_t call(const LunIo& io) {
  const struct iovec part { io.data + io.done_bytes, io.length_bytes - io.done_bytes };
  const auto offset = static_cast<off_t>(io.offset + io.done_bytes);
  std::int64_t result = 0;
  switch (io.kind) {
    case IoKind::kRead: result = ::preadv2(io.lun->fd(), &part, 1, offset, 0); break;
    case IoKind::kWrite:
      result = ::pwritev2(io.lun->fd(), &part, 1, offset,
                          io.durability == Durability::kStable ? RWF_DSYNC : 0);
      break;
    case IoKind::kFlush: result = ::fdatasync(io.lun->fd()); break;
    case IoKind::kNone: return 0;
  }
  return result < 0 ? -errno : result;
}

}  // namespace

int wait_for_io(LunIo& io) {
  int error_number = 0;
  while (advance_io(io, call(io), error_number) == Progress::kAgain) {
  }
  return error_number;
}
void perform_io(LunIo& io) { finish_io(io, wait_for_io(io)); }

void finish_io(LunIo& io, int error_number) {
  if (io.lun != nullptr)
    io.lun->account(io.kind, io.done_bytes, now_ns() - io.begun_ns, error_number);
  io.done(io, error_number);
}

std::int64_t now_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void enter_engine_thread(const char* thread_name) {
  ::pthread_setname_np(::pthread_self(), thread_name);
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace symnas::cvm
