// Scheduler: who runs next. What interpose.cc calls; tests use simulation.h.
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

// The first thread of the OS process and every carrier made for a simulated thread. Carriers never
// end: one whose thread has ended waits for the next.
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

// The simulated thread that runs here; null: not part of a simulation.
extern thread_local Thread* self;

struct Scheduler {
  // How eager this seed is to disturb.
  struct Tuning {
    std::uint64_t switch_ppm = 0;
    std::uint64_t stall_ppm = 0;
    std::int64_t stall_ns_max = 0;
    std::uint64_t event_ppm = 0;  // an event or a time-out overtakes threads that could run
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

  // The thread that the OS process began with.
  Thread& add_first();
  // Threads of it never run again.
  void forget(const Process& dead);
  void choose_tuning();
  void point();
  // Gives the turn to whoever is next; returns when this thread has it again.
  void yield();
  // Blocks until woken or `deadline_ns`; false: the deadline passed.
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
  // A thread of that process begins.
  void remember(Thread& thread, const Process& process);
  // How many blocked threads wait on an address of that hash: most wakes find none.
  static std::size_t slot_of(const void* address);
  std::array<int, 256> waiting_{};
  std::vector<Thread*> living_;  // of `threads`, those of processes that live, by number
  std::vector<Thread*> candidates_;
};
extern Scheduler scheduler;

}  // namespace symnas::sim
