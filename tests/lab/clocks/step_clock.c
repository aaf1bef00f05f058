// A wall clock that a test can set: preloaded into a server, it adds the nanoseconds that stand in
// the file $SYMNAS_CLOCK (8 bytes, the machine's byte order) to what the kernel says. The monotonic
// clock is left alone. Waits for a time of the wall clock end when that clock says so, also if it
// is set meanwhile. Kernel clocks of other processes are not touched.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kSecondNs = 1000000000, kSliceNs = 50000000, kMonotonicCondition = 2 };

static const volatile int64_t* offset;

__attribute__((constructor)) static void find_offset(void) {
  const char* name = getenv("SYMNAS_CLOCK");
  const int fd = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (page != MAP_FAILED) offset = page;
}

static int64_t offset_ns(void) { return offset == NULL ? 0 : *offset; }

static int64_t ns_of(const struct timespec* time) {
  return (int64_t)time->tv_sec * kSecondNs + time->tv_nsec;
}

static struct timespec timespec_of(int64_t ns) {
  struct timespec time = {ns / kSecondNs, ns % kSecondNs};
  return time;
}

static int is_wall(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE; }

int clock_gettime(clockid_t id, struct timespec* out) {
  static __typeof__(&clock_gettime) next;
  if (next == NULL) next = (__typeof__(&clock_gettime))dlsym(RTLD_NEXT, "clock_gettime");
  const int failed = next(id, out);
  if (!failed && is_wall(id)) *out = timespec_of(ns_of(out) + offset_ns());
  return failed;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

// A step ends or prolongs the wait: it is made of short ones.
int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
  if (condition->__data.__wrefs & kMonotonicCondition)
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until);
  for (;;) {
    struct timespec now, mono;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t left = ns_of(until) - ns_of(&now);
    if (left <= 0) return ETIMEDOUT;
    clock_gettime(CLOCK_MONOTONIC, &mono);
    mono = timespec_of(ns_of(&mono) + (left < kSliceNs ? left : kSliceNs));
    const int result = pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &mono);
    if (result != ETIMEDOUT) return result;
  }
}
