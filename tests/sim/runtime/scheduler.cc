#include "tests/sim/runtime/scheduler.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/sim/runtime/libc.h"

namespace symnas::sim {

thread_local Thread* self = nullptr;
Scheduler scheduler;

namespace {

constexpr std::int64_t kSimulatedNsMax = 3'600'000'000'000;  // an hour: no run takes so long
constexpr std::int64_t kLeapsNsMax = 300'000'000'000;        // a few of the longest timers
constexpr std::uint64_t kStepsMax = 20'000'000;
constexpr std::size_t kThreadsMax = 1'000;  // threads of dead processes count
constexpr std::size_t kCarrierStackBytes = 512 << 10;

void* carrier_main(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  self = &thread;
  begin(thread.turn);
  for (;;) scheduler.end_thread(thread.entry(thread.argument));
}

bool later(const Scheduler::Event& a, const Scheduler::Event& b) {
  return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.tie > b.tie;
}

}  // namespace

void Scheduler::choose_tuning() {
  leaps_left_ns_ = kLeapsNsMax;
  const auto one_of = [](std::initializer_list<std::int64_t> values) {
    return values.begin()[below(values.size())];
  };
  tuning.switch_ppm = static_cast<std::uint64_t>(one_of({2'000, 20'000, 100'000, 300'000}));
  tuning.stall_ppm = static_cast<std::uint64_t>(one_of({0, 200, 2'000}));
  tuning.stall_ns_max = one_of({1'000'000, 100'000'000, 3'000'000'000});
  tuning.event_ppm = static_cast<std::uint64_t>(one_of({0, 10'000, 100'000}));
  tuning.spurious_ppm = static_cast<std::uint64_t>(one_of({0, 0, 1'000}));
  tuning.step_ns = one_of({100, 1'000, 10'000});
}

void Scheduler::hash(std::uint64_t word) {
  outcome->trace_hash = (outcome->trace_hash ^ word) * 0x9E3779B97F4A7C15ULL;
  outcome->trace_hash ^= outcome->trace_hash >> 29;
}

void Scheduler::point() {
  if (no_switch > 0) return;
  now_ns += tuning.step_ns;
  if (++outcome->steps > kStepsMax) fail("no end: too many steps");
  const std::uint64_t dice = below(1'000'000);
  if (dice >= tuning.switch_ppm) return;
  if (chance(tuning.stall_ppm * 10)) {
    self->stalled_until_ns =
        now_ns + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(tuning.stall_ns_max)));
  }
  yield();
}

void Scheduler::yield() {
  if (no_switch > 0) fail(std::string("blocks where it must not: ") + self->why);
  hand_over(next());
}

void Scheduler::hand_over(Thread& to) {
  hash(static_cast<std::uint64_t>(to.number) << 40 ^ static_cast<std::uint64_t>(now_ns));
  if (&to == self) return;
  ++outcome->switches;
  sim::hand_over(self->turn, to.turn);
}

bool Scheduler::block(const void* address, const char* why, std::int64_t deadline_ns) {
  Thread& me = *self;
  me.state = Thread::State::kBlocked;
  me.waits_on = address;
  me.why = why;
  me.deadline_ns = deadline_ns;
  me.timed_out = false;
  ++blocked;
  ++waiting_[slot_of(address)];
  yield();
  me.why = "";
  return !me.timed_out;
}

std::size_t Scheduler::slot_of(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address) >> 3;
  return (number ^ number >> 8 ^ number >> 16) % 256;
}

void Scheduler::unblock(Thread& thread) {
  thread.state = Thread::State::kRunnable;
  --blocked;
  --waiting_[slot_of(thread.waits_on)];
}

Thread& Scheduler::add_first() {
  threads.push_back(std::make_unique<Thread>());
  living_.push_back(threads.back().get());
  return *threads.back();
}

void Scheduler::remember(Thread& thread, const Process& process) {
  const auto place = std::ranges::lower_bound(living_, thread.number, {}, &Thread::number);
  const bool there = place != living_.end() && *place == &thread;
  if (process.alive_ && !there) living_.insert(place, &thread);
  if (!process.alive_ && there) living_.erase(place);
}

void Scheduler::forget(const Process& dead) {
  std::erase_if(living_, [&dead](const Thread* thread) { return thread->process == &dead; });
}

void Scheduler::wake_one(const void* address) {
  if (waiting_[slot_of(address)] == 0) return;
  candidates_.clear();
  for (const auto& thread : threads) {
    if (thread->state == Thread::State::kBlocked && thread->waits_on == address) {
      candidates_.push_back(thread.get());
    }
  }
  if (candidates_.empty()) return;
  unblock(*candidates_[candidates_.size() == 1 ? 0 : below(candidates_.size())]);
}

void Scheduler::wake_all(const void* address) {
  if (waiting_[slot_of(address)] == 0) return;
  for (const auto& thread : threads) {
    if (thread->state == Thread::State::kBlocked && thread->waits_on == address) unblock(*thread);
  }
}

// Fills candidates_ with the threads that can run now.
bool Scheduler::collect() {
  candidates_.clear();
  for (Thread* const thread : living_) {
    if (thread->state == Thread::State::kIdle || thread->state == Thread::State::kEnded) continue;
    const Process& process = *thread->process;
    if (process.paused_until_ns_ > now_ns) continue;
    if (thread->stalled_until_ns > now_ns) continue;
    if (thread->state == Thread::State::kBlocked) {
      const bool spurious = tuning.spurious_ppm > 0 && chance(tuning.spurious_ppm);
      if (thread->deadline_ns > now_ns && !spurious) continue;
      unblock(*thread);
      thread->timed_out = thread->deadline_ns <= now_ns;
    }
    candidates_.push_back(thread);
  }
  return !candidates_.empty();
}

// The next time at which something happens without a thread; INT64_MAX: never.
std::int64_t Scheduler::next_time() const {
  std::int64_t out = events.empty() ? INT64_MAX : events.front().at_ns;
  for (const Thread* const thread : living_) {
    if (thread->state == Thread::State::kIdle || thread->state == Thread::State::kEnded) continue;
    const Process& process = *thread->process;
    std::int64_t mine = thread->state == Thread::State::kBlocked ? thread->deadline_ns : 0;
    if (mine == INT64_MAX) continue;
    mine = std::max({mine, thread->stalled_until_ns, process.paused_until_ns_});
    if (mine > now_ns) out = std::min(out, mine);
  }
  return out;
}

void Scheduler::run_event() {
  std::pop_heap(events.begin(), events.end(), later);
  const std::function<void()> run = std::move(events.back().run);
  now_ns = std::max(now_ns, events.back().at_ns);
  events.pop_back();
  ++no_switch;
  in_event = true;
  run();
  in_event = false;
  --no_switch;
}

Thread& Scheduler::next() {
  for (;;) {
    if (!events.empty() && events.front().at_ns <= now_ns) {
      run_event();
      continue;
    }
    const bool some = collect();
    if (some && !(tuning.event_ppm > 0 && chance(tuning.event_ppm))) break;
    const std::int64_t then = next_time();
    // All threads that could run stall until then. Long leaps are limited in total, or a run would
    // not end.
    if (some && then - now_ns > tuning.stall_ns_max) {
      if (then - now_ns > leaps_left_ns_) break;
      leaps_left_ns_ -= then - now_ns;
    }
    if (then == INT64_MAX) {
      if (!some) deadlock();
      break;
    }
    if (then > kSimulatedNsMax) {
      for (const auto& thread : threads) {
        if (thread->state != Thread::State::kBlocked || !thread->process->alive_) continue;
        trace("%s/%s waits: %s", thread->process->name().c_str(), thread->name, thread->why);
      }
      fail("no end: too much time");
    }
    now_ns = std::max(now_ns, then);
  }
  return *candidates_[candidates_.size() == 1 ? 0 : below(candidates_.size())];
}

void Scheduler::deadlock() {
  std::string text = "nothing can run:";
  for (const auto& thread : threads) {
    if (thread->state != Thread::State::kBlocked || !thread->process->alive_) continue;
    text += " [" + thread->process->name_ + "/" + thread->name + ": " + thread->why + "]";
  }
  fail(text);
}

Thread& Scheduler::create(Process& process, const char* name, void* (*entry)(void*),
                          void* argument) {
  const auto idle = std::find_if(threads.begin(), threads.end(), [](const auto& thread) {
    return thread->state == Thread::State::kIdle;
  });
  Thread* thread = idle == threads.end() ? nullptr : idle->get();
  const bool fresh = thread == nullptr;
  if (fresh) {
    if (threads.size() >= kThreadsMax) fail("too many threads");
    threads.push_back(std::make_unique<Thread>());
    thread = threads.back().get();
    thread->number = static_cast<int>(threads.size());
  }
  remember(*thread, process);
  thread->name = name;
  thread->process = &process;
  thread->state = Thread::State::kRunnable;
  thread->deadline_ns = INT64_MAX;
  thread->stalled_until_ns = 0;
  thread->detached = false;
  thread->entry = entry;
  thread->argument = argument;
  if (fresh) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kCarrierStackBytes);
    if (libc::pthread_create(&thread->carrier, &attributes, carrier_main, thread) != 0) {
      fail("no more OS threads");
    }
    pthread_attr_destroy(&attributes);
    wait_for_begin(thread->turn);
  }
  return *thread;
}

// Returns when the carrier has got another thread to run.
void Scheduler::end_thread(void* result) {
  Thread& me = *self;
  me.result = result;
  me.state = me.detached ? Thread::State::kIdle : Thread::State::kEnded;
  wake_all(&me);
  Thread& to = next();
  hash(static_cast<std::uint64_t>(to.number) << 40 ^ static_cast<std::uint64_t>(now_ns) ^ 1);
  ++outcome->switches;
  sim::hand_over(me.turn, to.turn);
}

Thread* Scheduler::find(pthread_t carrier) {
  for (const auto& thread : threads) {
    if (pthread_equal(thread->carrier, carrier) != 0) return thread.get();
  }
  return nullptr;
}

void Scheduler::join(Thread& thread) {
  while (thread.state != Thread::State::kEnded) block(&thread, "join", INT64_MAX);
  thread.state = Thread::State::kIdle;
}

}  // namespace symnas::sim
