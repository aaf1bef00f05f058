// SessionContext: what the parts of a session share: store, clock, cache, timers, counters, and the
// one end of the session.
//
// Thread class: thread-safe. Lives until the last answer of the store has come (parts capture
// keep_alive()).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/applied_waiters.h"
#include "common/kv/cache.h"
#include "common/kv/filesystem_time.h"
#include "common/kv/session.h"
#include "common/kv/store.h"
#include "common/kv/threads_inside.h"
#include "common/kv/timer_queue.h"

namespace symnas::kv {

struct AtomicSessionCounters {
  std::atomic<std::uint64_t> operations{0};
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> conflicts{0};
  std::atomic<std::uint64_t> stale_operations{0};
  std::atomic<std::uint64_t> unknown_outcomes{0};
  std::atomic<std::uint64_t> cache_hits{0};
  std::atomic<std::uint64_t> cache_loads{0};
  std::atomic<std::uint64_t> resyncs{0};
  std::atomic<std::uint64_t> barriers{0};
};

class SessionContext : public std::enable_shared_from_this<SessionContext> {
 public:
  using ReadCallback = std::function<void(Result<TxnResult>)>;
  enum class Announce { kNo, kYes };

  SessionContext(Store& the_store, const env::Clock& the_clock, SessionOptions the_options,
                 std::function<void(Error)> on_ended, std::function<void()> wake);
  virtual ~SessionContext() = default;

  std::shared_ptr<SessionContext> keep_alive() { return shared_from_this(); }

  // Held by callers and by answers of the store while they run, so that shut_down() can wait for
  // them.
  class Inside {
   public:
    explicit Inside(SessionContext& context) : context_(context.keep_alive()) {
      context_->threads_inside.enter();
    }
    ~Inside() { context_->threads_inside.leave(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    const std::shared_ptr<SessionContext> context_;
  };

  // --- the end
  // Called on close(), in order of registration. REQUIRES: before anything is sent.
  void on_close(std::function<void(const Error&)> part) { parts_.push_back(std::move(part)); }
  // The first call ends the session: it calls on_ended (with kYes, and only once the session has
  // been opened), then every part answers what it holds with `error`, then every waiting timer
  // runs. Later calls do nothing.
  void close(Error error, Announce announce);
  // From now on close() announces the end. Errors: the error that closed the session while it was
  // being opened.
  Status opened();
  bool is_closed() const { return closed_.load(std::memory_order_acquire); }
  // The error that closed the session. REQUIRES: is_closed().
  Error close_error() const;

  // --- reading
  // One linearizable read, tried until it is answered, however long etcd is unreachable. Errors:
  // kTooLarge, kInvalidArgument, kShutdown, the error that closed the session.
  void read(std::vector<Op> ranges, ReadCallback done);

  // Runs `action` when the watch has applied `revision`, or when the cache has been dropped. Drops
  // the cache when the watch has not come so far within patience_ms.
  void when_applied(Revision revision, std::int64_t patience_ms, std::function<void()> action);
  // Drops the cache and opens a new watch. REQUIRES: set before anything is sent.
  std::function<void()> drop_late_watch;

  std::int64_t now_ns() const { return clock.mono_ns(); }
  // The time of the next try after `tries` tries; `salt` spreads tries that failed together.
  std::int64_t retry_at_ns(int tries, std::uint64_t salt) const;
  static TryOptions try_options(int unanswered_tries);
  // Logs, ever more rarely, that something has waited long for etcd.
  void note_retry(const char* what, int tries, const std::string& why) const;

  Store& store;
  const env::Clock& clock;
  const SessionOptions options;
  const std::string name;  // the mount's name, printable
  Cache cache;
  FilesystemTime time;
  TimerQueue timers;
  AppliedWaiters applied_waiters;
  AtomicSessionCounters counters;
  ThreadsInside threads_inside;

 private:
  struct ReadTry {
    Txn txn;
    ReadCallback done;
    std::uint64_t number = 0;
    int tries = 0;
  };
  void send_read(const std::shared_ptr<ReadTry>& attempt);
  // Removes the read from the list; false: close() has answered it.
  bool take_read(const std::shared_ptr<ReadTry>& attempt);

  const std::function<void(Error)> on_ended_;
  std::vector<std::function<void(const Error&)>> parts_;
  mutable Mutex mutex_;
  std::atomic<bool> closed_{false};  // set under mutex_
  bool opened_ GUARDED_BY(mutex_) = false;
  Error error_ GUARDED_BY(mutex_);
  // Not answered yet.
  std::map<std::uint64_t, std::shared_ptr<ReadTry>> reads_ GUARDED_BY(mutex_);
  std::uint64_t next_read_ GUARDED_BY(mutex_) = 0;
};

}  // namespace symnas::kv
