// Gate: whether this mount may answer and write (DESIGN 6). Open while the mount has proof, no
// older than the window, that it has not ended; closed, everything that would answer or write is
// held, and goes on when there is proof again. The gate never ends anything: disproof is the
// session's.
//
// Thread class: thread-safe. Held actions run on the caller of prove() or shut_down(), with no lock
// held. Invariant: a proof counts from the moment its transaction was sent, not from its answer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "common/env/clock.h"

namespace symnas::fs {

class Gate {
 public:
  enum class Passage {
    kOpen,
    kShutDown,  // the mount is being destroyed: do not answer, do not write
  };
  using Action = std::function<void(Passage)>;

  // Open until window_ns after proven_ns: when the transaction that made the mount was sent.
  Gate(const env::Clock& clock, std::int64_t proven_ns, std::int64_t window_ns)
      : clock_(clock), window_ns_(window_ns), proven_ns_(proven_ns), open_since_ns_(proven_ns) {}

  bool is_open() const { return clock_.mono_ns() < open_until_ns(); }
  // When it closes, or has closed, without a further proof.
  std::int64_t open_until_ns() const {
    return proven_ns_.load(std::memory_order_acquire) + window_ns_;
  }
  // Since when it has not been closed, by the clock.
  std::int64_t open_since_ns() const { return open_since_ns_.load(std::memory_order_acquire); }
  // For how long it has been open without a break; nullopt: it is closed.
  std::optional<std::int64_t> open_for_ns() const;
  // Runs `action` at once when open, else when the gate opens again.
  void pass(Action action);
  // The same for callers that may block.
  Passage wait();
  // A transaction that could not succeed after this mount's end was sent at sent_ns, and its change
  // has come back through the mount's own watch.
  void prove(std::int64_t sent_ns);
  // Lets everything held go with kShutDown, and everything that comes later. Idempotent.
  void shut_down();

  std::size_t held() const;

 private:
  const env::Clock& clock_;
  const std::int64_t window_ns_;
  std::atomic<std::int64_t> proven_ns_;
  std::atomic<std::int64_t> open_since_ns_;

  mutable std::mutex mutex_;
  std::condition_variable opened_;
  std::vector<Action> held_;  // each is an NFS operation in progress: bounded by them
  std::size_t blocked_ = 0;   // callers of wait()
  bool shut_down_ = false;
};

}  // namespace symnas::fs
