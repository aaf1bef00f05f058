// Scheduler: decides which thread runs the in-memory store's callbacks, and when.
//   InlineScheduler  the caller's thread, at once; an event posted from inside an event runs after
//                    it (no recursion)
//   ThreadScheduler  one thread of its own, in order: as a real store does
//   SeededScheduler  a simulation: one thread, simulated time, the order of simultaneous events
//                    drawn from a seed
//
// Thread class: see each class.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/env/clock.h"
#include "common/env/random.h"

namespace symnas::kv {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Runs `event` once, `delay_ns` or more from now. REQUIRES: the caller holds no lock that the
  // event may take.
  virtual void schedule(std::int64_t delay_ns, std::function<void()> event) = 0;
  // True: this scheduler has no time. Delays count as over, and what a simulation does "later" is
  // done after later transactions.
  virtual bool immediate() const = 0;
};

// Thread-safe.
class InlineScheduler final : public Scheduler {
 public:
  void schedule(std::int64_t delay_ns, std::function<void()> event) override;
  bool immediate() const override { return true; }
};

// Thread-safe. Delays count as over. The destructor runs no further event.
class ThreadScheduler final : public Scheduler {
 public:
  ThreadScheduler();
  ~ThreadScheduler() override;
  void schedule(std::int64_t delay_ns, std::function<void()> event) override;
  bool immediate() const override { return true; }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Confined to one thread. Also the simulation's clock: time jumps to the next event.
class SeededScheduler final : public Scheduler, public env::Clock {
 public:
  explicit SeededScheduler(std::uint64_t seed, std::int64_t start_ns = 1'000'000'000)
      : random_(seed), now_ns_(start_ns) {}

  void schedule(std::int64_t delay_ns, std::function<void()> event) override;
  bool immediate() const override { return false; }
  std::int64_t mono_ns() const override { return now_ns_; }
  std::int64_t wall_ns() const override { return now_ns_; }

  // Runs one event of the earliest time (drawn among several). False when there is none.
  bool run_one();
  // Runs events until none is left or `events_max` have run; returns how many ran.
  std::int64_t run(std::int64_t events_max);
  // Runs everything that is due within `span_ns`, then sets the time to the end of that span.
  void run_for(std::int64_t span_ns);

  env::Random& random() { return random_; }

 private:
  env::SeededRandom random_;
  std::int64_t now_ns_;
  std::map<std::int64_t, std::vector<std::function<void()>>> events_;
};

}  // namespace symnas::kv
