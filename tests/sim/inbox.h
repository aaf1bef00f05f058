// Inbox: a thread of a simulated process that runs the jobs that events give it, in order: the
// receiving thread of a store, the completion thread of a volume. It lives as long as the run.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  static std::shared_ptr<Inbox> open(Process& process, const char* name) {
    auto inbox = std::make_shared<Inbox>(process);
    spawn(process, name, [inbox] { inbox->run(); });
    return inbox;
  }
  explicit Inbox(Process& process) : process_(process) {}

  // The job of a dead process is never destroyed: its destructor could run code of that process.
  void push(std::function<void()> job) {
    if (process_.alive()) {
      jobs_.push_back(std::move(job));
      wake(this);
    } else {
      new std::function<void()>(std::move(job));
    }
  }
  Process& process() const { return process_; }

 private:
  [[noreturn]] void run() {
    for (;;) {
      wait_until(this, "its inbox", [this] { return !jobs_.empty(); });
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      job();
      preemption_point();
    }
  }

  Process& process_;
  std::deque<std::function<void()>> jobs_;
};

}  // namespace symnas::sim
