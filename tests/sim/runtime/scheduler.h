// Scheduler: decides which thread runs next. interpose.cc calls it; tests use simulation.h.
//
// Thread class: called by the thread that has the turn, or by an event.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/sim/runtime/handover.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

// The first thread of the OS process, or a carrier made for a simulated thread. Carriers never end:
// when its thread has ended, a carrier waits for the next one.
struct Thread {
  enum class State { kRunnable, kBlocked, kEnded, kIdle };
  int number = 0;
  const char* name = "";
  Process* process = nullptr;
  State state = State::kIdle;
  pthread_t carrier{};
  Turn turn;
  const void* waits_on = nullptr;
  const char* why = "";
  std::int64_t deadline_ns = INT64_MAX;  // simulated time
  std::int64_t stalled_until_ns = 0;
  bool timed_out = false;
  bool detached = false;
  void* (*entry)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
};

// The simulated thread that runs on this OS thread; null: not part of a simulation.
extern thread_local Thread* self;

struct Scheduler {
  // How often this seed disturbs.
  struct Tuning {
    std::uint64_t switch_ppm = 0;
    std::uint64_t stall_ppm = 0;
    std::int64_t stall_ns_max = 0;
    std::uint64_t event_ppm = 0;  // how often an event or a time-out overtakes threads that can run
    std::uint64_t spurious_ppm = 0;
    std::int64_t step_ns = 0;
  };
  struct Event {
    std::int64_t at_ns;
    std::uint64_t tie;
    std::function<void()> run;
  };

  std::uint64_t seed = 0;
  bool tracing = false;
  Outcome* outcome = nullptr;
  std::uint64_t random_state = 0;
  std::int64_t now_ns = 0;
  Tuning tuning;
  int no_switch = 0;
  bool in_event = false;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<Event> events;  // a heap, earliest first
  int blocked = 0;

  // Adds the thread with which the OS process began.
  Thread& add_first();
  // Threads of the dead process never run again.
  void forget(const Process& dead);
  void choose_tuning();
  void point();
  // Passes the turn to the next thread; returns when this thread has it again.
  void yield();
  // Blocks until woken or until `deadline_ns`; false: the deadline passed.
  bool block(const void* address, const char* why, std::int64_t deadline_ns);
  void wake_one(const void* address);
  void wake_all(const void* address);
  Thread& create(Process& process, const char* name, void* (*entry)(void*), void* argument);
  void end_thread(void* result);
  Thread* find(pthread_t carrier);
  void join(Thread& thread);
  void hash(std::uint64_t word);

 private:
  Thread& next();
  bool collect();
  std::int64_t next_time() const;
  void run_event();
  void hand_over(Thread& to);
  [[noreturn]] void deadlock();
  std::int64_t leaps_left_ns_ = 0;
  void unblock(Thread& thread);
  // To be called when a thread of that process begins.
  void remember(Thread& thread, const Process& process);
  // Index into waiting_, the number of blocked threads per hash of their address: most wakes find
  // none.
  static std::size_t slot_of(const void* address);
  std::array<int, 256> waiting_{};
  std::vector<Thread*> living_;  // those of `threads` whose processes live, by number
  std::vector<Thread*> candidates_;
};
extern Scheduler scheduler;

}  // namespace symnas::sim
