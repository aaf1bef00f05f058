// Simulation: real threads of which exactly one runs at a time, in simulated time; a seed decides
// which one, and when. interpose.cc puts it under the product: calls of mutexes, condition
// variables, futexes, sleeps and clocks by a simulated thread come here, those by any other thread
// go to libc.
//
//   Process   can be killed and paused, and has its own clock: an instance; the clients; the world
//   Thread    belongs to a process, inherited from its creator
//   event     a function that runs at a simulated time, outside all processes, without blocking
//
// A thread may lose its turn at a preemption point: before a mutex is taken and after it is
// released, around condition variables and futexes, when a thread is made, and where an adapter
// says so. Between two preemption points it runs alone; code of a test needs no locks.
//
// Thread class: all functions are for simulated threads and events. One simulation per OS process,
// which ends by finish() or fail(): killed processes leave their memory behind.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/env/clock.h"
#include "common/env/random.h"

namespace symnas::sim {

struct Thread;

class Process final : public env::Clock {
 public:
  // Clocks of the process: rate within 10 % of simulated time, a wall clock some seconds off.
  std::int64_t mono_ns() const override;
  std::int64_t wall_ns() const override;
  // The simulated time at which mono_ns() will be `mono_ns`.
  std::int64_t world_ns_of(std::int64_t mono_ns) const;
  const std::string& name() const { return name_; }
  bool alive() const { return alive_; }

 private:
  friend Process& new_process(std::string name);
  friend void kill(Process& process);
  friend void pause(Process& process, std::int64_t span_ns);
  friend struct Scheduler;
  std::string name_;
  std::int64_t rate_ppm_ = 1'000'000;
  std::int64_t mono_base_ns_ = 1'000'000'000;
  std::int64_t wall_base_ns_ = 0;
  std::int64_t paused_until_ns_ = 0;
  bool alive_ = true;
};

// --- the run
struct Outcome {  // in memory shared with whoever started this OS process
  std::uint64_t trace_hash = 0;
  std::uint64_t steps = 0;     // preemption points passed
  std::uint64_t switches = 0;  // turns given to another thread
  std::int64_t simulated_ns = 0;
  char failure[512] = {};
};
enum class Trace { kOff, kOn };
// The calling thread becomes the first thread of the first process, "world".
void start(std::uint64_t seed, Trace trace, Outcome* outcome);
// Ends the OS process: the run was good, or not.
[[noreturn]] void finish();
[[noreturn]] void fail(std::string_view why);

// --- randomness: every draw of a run comes from its seed
std::uint64_t draw();
std::uint64_t below(std::uint64_t bound);
bool chance(std::uint64_t per_million);
env::Random& random();

// --- time
std::int64_t now_ns();
void at(std::int64_t delay_ns, std::function<void()> event);
void sleep_ns(std::int64_t span_ns);  // simulated time

// --- processes and threads
Process& new_process(std::string name);
Process& current_process();
void spawn(Process& process, const char* name, std::function<void()> body);
// The process is never scheduled again; threads that wait on the address of the process are woken.
// Does not return when the caller belongs to it.
void kill(Process& process);
void pause(Process& process, std::int64_t span_ns);

void preemption_point();
// Waits until wake() of the same address. A woken thread looks at its condition again.
void wait_on(const void* address, const char* why);
void wake(const void* address);
template <class Condition>
void wait_until(const void* address, const char* why, Condition condition) {
  while (!condition()) wait_on(address, why);
}

// While one exists, its thread keeps the turn and must not block: for code around data that
// processes share.
class NoSwitch {
 public:
  NoSwitch();
  ~NoSwitch();
  NoSwitch(const NoSwitch&) = delete;
  NoSwitch& operator=(const NoSwitch&) = delete;
};

// From now on no thread is delayed and none is preferred, so that a run can come to its end.
void calm();

// --- the caller decides what happens next, instead of chance
// A thread loses its turn only where it blocks, and nothing is delayed.
void orderly();
// Returns when no other thread can run before time passes.
void until_quiet();
// A message under way: a request, an answer, watch events, I/O. It arrives after `delay_ns`, or
// when the PostOffice of take_over_post() decides. REQUIRES for take_over_post(): nothing is under
// way; it cannot be undone.
void post(std::int64_t delay_ns, std::function<void()> arrival);
using PostOffice = std::function<void(std::int64_t delay_ns, std::function<void()> arrival)>;
void take_over_post(PostOffice office);

// --- trace: every line goes into the hash; with Trace::kOn it is also printed.
[[gnu::format(printf, 1, 2)]] void trace(const char* format, ...);

}  // namespace symnas::sim
