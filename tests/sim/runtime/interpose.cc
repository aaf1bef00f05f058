// Replaces libc's blocking calls and clocks in an executable that links this file. Calls of
// simulated threads go to the scheduler, all others to libc.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/sim/runtime/libc.h"
#include "tests/sim/runtime/scheduler.h"

namespace symnas::sim {

namespace libc {

long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  long result = 0;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

namespace {

template <class Function>
Function* next(Function* /*same*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#define NEXT(name)                                              \
  (__extension__({                                              \
    static const auto libc_##name = libc::next(&::name, #name); \
    libc_##name;                                                \
  }))

}  // namespace

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                   void* argument) {
  return NEXT(pthread_create)(thread, attributes, entry, argument);
}

}  // namespace libc

namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;

bool simulated() { return self != nullptr; }

std::int64_t ns_of(const timespec& ts) { return ts.tv_sec * kNsPerS + ts.tv_nsec; }
timespec timespec_of(std::int64_t ns) { return {.tv_sec = ns / kNsPerS, .tv_nsec = ns % kNsPerS}; }

bool is_wall(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE; }
bool is_time(clockid_t id) {
  return is_wall(id) || id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE ||
         id == CLOCK_MONOTONIC_RAW || id == CLOCK_BOOTTIME;
}

// The simulated time at which a clock of the thread's process shows `at`.
std::int64_t world_ns_at(clockid_t id, const timespec& at) {
  const Process& process = *self->process;
  std::int64_t mono_ns = ns_of(at);
  if (is_wall(id)) mono_ns -= process.wall_ns() - process.mono_ns();
  return process.world_ns_of(mono_ns);
}
std::int64_t world_ns_after(const timespec& span) {
  const Process& process = *self->process;
  return process.world_ns_of(process.mono_ns() + ns_of(span));
}

void lock(pthread_mutex_t* mutex) {
  while (NEXT(pthread_mutex_trylock)(mutex) == EBUSY) {
    scheduler.block(mutex, "mutex", INT64_MAX);
  }
}
void unlock(pthread_mutex_t* mutex) {
  NEXT(pthread_mutex_unlock)(mutex);
  scheduler.wake_all(mutex);
}

int wait(pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t deadline_ns) {
  scheduler.point();
  unlock(mutex);
  const bool woken = scheduler.block(condition, "condition", deadline_ns);
  lock(mutex);
  return woken ? 0 : ETIMEDOUT;
}

int sleep_until(std::int64_t world_ns) {
  while (scheduler.now_ns < world_ns) scheduler.block(nullptr, "sleep", world_ns);
  return 0;
}

// Relative for FUTEX_WAIT, absolute for FUTEX_WAIT_BITSET (futex(2)).
std::int64_t futex_deadline(int operation, const timespec* timeout) {
  if (timeout == nullptr) return INT64_MAX;
  if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) return world_ns_after(*timeout);
  return world_ns_at((operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC,
                     *timeout);
}

long futex(int* word, int operation, int value, const timespec* timeout) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      scheduler.point();
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        errno = EAGAIN;
        return -1;
      }
      if (scheduler.block(word, "futex", futex_deadline(operation, timeout))) return 0;
      errno = ETIMEDOUT;
      return -1;
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
      const auto blocked = scheduler.blocked;
      if (value == 1) {
        scheduler.wake_one(word);
      } else {
        scheduler.wake_all(word);
      }
      // Whether libstdc++ makes this call when nobody waits depends on what else is near that
      // address.
      if (scheduler.blocked != blocked) scheduler.point();
      return 0;
    }
    default: fail("a futex operation that the simulation does not know");
  }
}

}  // namespace
}  // namespace symnas::sim

using namespace symnas::sim;  // NOLINT: below is C

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                   void* argument) noexcept {
  if (!simulated()) return libc::pthread_create(thread, attributes, entry, argument);
  *thread = scheduler.create(*self->process, "thread", entry, argument).carrier;
  scheduler.point();
  return 0;
}
int pthread_join(pthread_t thread, void** result) {
  Thread* const found = simulated() ? scheduler.find(thread) : nullptr;
  if (found == nullptr) return NEXT(pthread_join)(thread, result);
  scheduler.join(*found);
  if (result != nullptr) *result = found->result;
  return 0;
}
int pthread_detach(pthread_t thread) noexcept {
  Thread* const found = simulated() ? scheduler.find(thread) : nullptr;
  if (found == nullptr) return NEXT(pthread_detach)(thread);
  found->detached = true;
  if (found->state == Thread::State::kEnded) found->state = Thread::State::kIdle;
  return 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!simulated()) return NEXT(pthread_mutex_lock)(mutex);
  scheduler.point();
  lock(mutex);
  return 0;
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (simulated()) scheduler.point();
  return NEXT(pthread_mutex_trylock)(mutex);
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (!simulated()) return NEXT(pthread_mutex_unlock)(mutex);
  unlock(mutex);
  scheduler.point();
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!simulated()) return NEXT(pthread_cond_wait)(condition, mutex);
  return wait(condition, mutex, INT64_MAX);
}
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* at) {
  if (!simulated()) return NEXT(pthread_cond_timedwait)(condition, mutex, at);
  return wait(condition, mutex, world_ns_at(CLOCK_REALTIME, *at));
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id,
                           const timespec* at) {
  if (!simulated()) return NEXT(pthread_cond_clockwait)(condition, mutex, id, at);
  return wait(condition, mutex, world_ns_at(id, *at));
}
int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (!simulated()) return NEXT(pthread_cond_signal)(condition);
  scheduler.wake_one(condition);
  scheduler.point();
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (!simulated()) return NEXT(pthread_cond_broadcast)(condition);
  scheduler.wake_all(condition);
  scheduler.point();
  return 0;
}
// The scheduler holds the waiters, not libc.
int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  if (!simulated()) return NEXT(pthread_cond_destroy)(condition);
  return 0;
}

// What runs once is shared by all processes: no process may be killed in the middle of it.
int pthread_once(pthread_once_t* control, void (*function)()) {
  if (!simulated()) return NEXT(pthread_once)(control, function);
  const NoSwitch no_switch;
  return NEXT(pthread_once)(control, function);
}

int sched_yield() noexcept {
  if (!simulated()) return NEXT(sched_yield)();
  if (scheduler.no_switch == 0) scheduler.yield();
  return 0;
}
int nanosleep(const timespec* span, timespec* left) {
  if (!simulated()) return NEXT(nanosleep)(span, left);
  return sleep_until(world_ns_after(*span));
}
int clock_nanosleep(clockid_t id, int flags, const timespec* when, timespec* left) {
  if (!simulated()) return NEXT(clock_nanosleep)(id, flags, when, left);
  return sleep_until((flags & TIMER_ABSTIME) != 0 ? world_ns_at(id, *when) : world_ns_after(*when));
}
int clock_gettime(clockid_t id, timespec* out) noexcept {
  if (!simulated() || !is_time(id)) return NEXT(clock_gettime)(id, out);
  const Process& process = *self->process;
  *out = timespec_of(is_wall(id) ? process.wall_ns() : process.mono_ns());
  return 0;
}
// Mount records contain it.
pid_t getpid() noexcept {
  if (!simulated()) return static_cast<pid_t>(libc::raw_syscall(SYS_getpid));
  return 4242;
}

ssize_t getrandom(void* into, size_t bytes, unsigned flags) {
  if (!simulated()) return NEXT(getrandom)(into, bytes, flags);
  for (size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = draw();
    std::memcpy(static_cast<char*>(into) + at, &word, std::min(bytes - at, sizeof(word)));
  }
  return static_cast<ssize_t>(bytes);
}

// Reads six arguments, however many the caller passed, as libc does: the sixth is in the caller's
// frame, which AddressSanitizer would report.
[[gnu::no_sanitize("address")]] long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (simulated() && number == SYS_futex) {
    return futex(reinterpret_cast<int*>(a[0]), static_cast<int>(a[1]), static_cast<int>(a[2]),
                 reinterpret_cast<const timespec*>(a[3]));
  }
  const long result = libc::raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // extern "C"
