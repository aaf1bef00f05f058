// Gate: whether this mount may answer and write (docs/design.md 6, decision 0024). Thread-safe.
//
// Two things are asked:
//  - Is it open? While the mount has a proof, no older than the window (seconds), that it has not
//    ended. I/O and every answer need that.
//  - Does an answer have a sign of life? One that reached nothing but memory might be given behind
//    the end of a mount that was cut off from its LUNs only. It leaves after a heartbeat that etcd
//    shows to everybody and that was sent at most kLifeWindowNs ago; or after any proof that was
//    begun when the answer's request was there already: a transaction, a read of the records, or an
//    I/O of a LUN, which a fence would have refused. The second needs no clock.
// What lacks one is held, and goes on when it is there. The gate ends nothing: the session, or an
// I/O, finds a disproof. Then close() shuts it for good.
//
// Held actions run on the caller of prove(), confirm() or shut_down(), with no lock held.
// Invariant: a proof counts from the moment it was begun, not from its answer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "fsal_cluster/types/limits.h"

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
      : clock_(clock),
        window_ns_(window_ns),
        proven_ns_(proven_ns),
        open_since_ns_(proven_ns),
        recorded_ns_(proven_ns),
        confirmed_ns_(proven_ns) {}

  bool is_open() const { return clock_.mono_ns() < open_until_ns(); }
  // When the gate closes, or has closed, unless there is a further proof; 0: it is closed for good.
  std::int64_t open_until_ns() const {
    if (closed_.load(std::memory_order_acquire)) return 0;
    return proven_ns_.load(std::memory_order_acquire) + window_ns_;
  }
  // Since when the gate has been open without a break, by the clock.
  std::int64_t open_since_ns() const { return open_since_ns_.load(std::memory_order_acquire); }
  // For how long the gate has been open without a break; nullopt: it is closed.
  std::optional<std::int64_t> open_for_ns() const;
  std::int64_t now_ns() const { return clock_.mono_ns(); }

  // --- what needs an open gate only
  // Runs `action` at once when the gate is open, else when it opens again.
  void pass(Action action);
  // As pass(), for callers that may block.
  Passage wait();

  // --- answers, which need a sign of life, too
  // Whether an answer to a request that was there at began_ns may leave now. Asks for a heartbeat
  // when the last one is about to become too old.
  bool may_answer(std::int64_t began_ns);
  // Runs `action` as soon as may_answer().
  void answer(std::int64_t began_ns, Action action);
  // As answer(), for callers that may block.
  Passage wait_to_answer(std::int64_t began_ns);
  // Whether an answer has passed a gate on this thread since forget_passed(): whatever the request
  // of that answer is answered, the mounts had not ended when it was there.
  static bool has_passed_here();
  static void forget_passed();

  // --- proofs
  // A transaction that could not succeed after this mount's end was sent at sent_ns, and its change
  // has come back through the mount's own watch.
  void prove(std::int64_t sent_ns);
  enum class Seen {
    kByEverybody,  // it put the mount's heartbeat: whoever ends the mount knows of it
    kByUs,
  };
  // Something that could not succeed after this mount's end was begun at begun_ns, and succeeded.
  // Cheap unless an answer is held.
  void confirm(std::int64_t begun_ns, Seen seen);
  // From now on the gate is shut: this mount has ended, or its head was fenced. What is held stays
  // held.
  void close() { closed_.store(true, std::memory_order_release); }
  // Lets everything that is held go with kShutDown, and everything that comes later. Idempotent.
  void shut_down();

  // --- for whoever sends heartbeats
  // `wake` is called when an answer waits for a sign of life, or soon will: once, until the next
  // sign, under the gate's mutex. It must not block. Empty: nobody is to be woken any more.
  void on_wanted(std::function<void()> wake);
  bool is_wanted() const { return wanted_.load(std::memory_order_acquire); }
  bool holds_answers() const { return answers_held_.load() > 0; }

  // For tests: actions and callers that are held now.
  std::size_t held() const;

 private:
  struct Held {
    Action action;
    std::optional<std::int64_t> answers_since_ns;  // nullopt: it needs an open gate only
  };
  bool may_go(const Held& held) const;
  bool has_sign(std::int64_t began_ns) const;
  void want();
  void want_locked() REQUIRES(mutex_);
  void release();

  const env::Clock& clock_;
  const std::int64_t window_ns_;
  std::atomic<bool> closed_ = false;
  std::atomic<std::int64_t> proven_ns_;
  std::atomic<std::int64_t> open_since_ns_;
  std::atomic<std::int64_t> recorded_ns_;   // the last proof that everybody can see was begun
  std::atomic<std::int64_t> confirmed_ns_;  // the last proof of any kind was begun
  std::atomic<int> answers_held_ = 0;       // of held_, and callers of wait_to_answer()
  std::atomic<bool> wanted_ = false;

  mutable Mutex mutex_;
  CondVar opened_;
  // Each is an NFS operation in progress, which bounds their number.
  std::vector<Held> held_ GUARDED_BY(mutex_);
  std::size_t blocked_ GUARDED_BY(mutex_) = 0;  // callers of wait() and wait_to_answer()
  bool shut_down_ GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs
