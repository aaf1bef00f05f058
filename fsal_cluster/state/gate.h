// Gate: whether this mount may answer and write (docs/design.md 6). It is open while the mount has
// proof, no older than the window, that it has not ended. While it is closed, everything that would
// answer or write is held, and goes on when there is proof again. The gate never ends anything: the
// session finds a disproof.
//
// Thread class: thread-safe. Held actions run on the caller of prove() or shut_down(), with no lock
// held. Invariant: a proof counts from the moment its transaction was sent, not from its answer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/env/clock.h"

namespace symnas::fs {

class Gate {
 public:
  enum class Passage {
    kOpen,
    kShutDown,  // the mount is being destroyed: do not answer, do not write
  };
  using Action = std::function<void(Passage)>;

  // `proven_ns`: when the transaction that made the mount was sent. The gate is open until
  // window_ns after it.
  Gate(const env::Clock& clock, std::int64_t proven_ns, std::int64_t window_ns)
      : clock_(clock), window_ns_(window_ns), proven_ns_(proven_ns), open_since_ns_(proven_ns) {}

  bool is_open() const { return clock_.mono_ns() < open_until_ns(); }
  // When the gate closes, or has closed, unless there is a further proof.
  std::int64_t open_until_ns() const {
    return proven_ns_.load(std::memory_order_acquire) + window_ns_;
  }
  // Since when the gate has been open without a break, by the clock.
  std::int64_t open_since_ns() const { return open_since_ns_.load(std::memory_order_acquire); }
  // For how long the gate has been open without a break; nullopt: it is closed.
  std::optional<std::int64_t> open_for_ns() const;
  // Runs `action` at once when the gate is open, else when it opens again.
  void pass(Action action);
  // As pass(), for callers that may block.
  Passage wait();
  // A transaction that could not succeed after this mount's end was sent at sent_ns, and its change
  // has come back through the mount's own watch.
  void prove(std::int64_t sent_ns);
  // Lets everything that is held go with kShutDown, and everything that comes later. Idempotent.
  void shut_down();

  // For tests: actions and callers that are held now.
  std::size_t held() const;

 private:
  const env::Clock& clock_;
  const std::int64_t window_ns_;
  std::atomic<std::int64_t> proven_ns_;
  std::atomic<std::int64_t> open_since_ns_;

  mutable Mutex mutex_;
  CondVar opened_;
  // Each is an NFS operation in progress, which bounds their number.
  std::vector<Action> held_ GUARDED_BY(mutex_);
  std::size_t blocked_ GUARDED_BY(mutex_) = 0;  // callers of wait()
  bool shut_down_ GUARDED_BY(mutex_) = false;
};

}  // namespace symnas::fs
