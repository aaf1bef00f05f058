// WatchKeeper: keeps one watch over the watched prefix open, feeds the cache from it, and reopens
// it when it ends. All decisions are WatchFollower's.
//
// Thread class: thread-safe. Watches are opened and destroyed by timers only, never inside a
// handler call.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/base/repeats.h"
#include "common/base/thread_annotations.h"
#include "common/kv/following.h"
#include "common/kv/limits.h"
#include "common/kv/session_context.h"
#include "common/kv/watch_follower.h"

namespace symnas::kv {

class WatchKeeper {
 public:
  // `on_disproof` is called (any thread) when the watch shows that the mount has ended.
  WatchKeeper(SessionContext& context, std::function<void(Error)> on_disproof);
  ~WatchKeeper();

  // Asks for the first watch; `ready` is called once when the cache is open. Errors: the error that
  // closed the session before that.
  void start(std::function<void(Status)> ready);
  // A barrier has waited too long: drops the cache and opens a new watch. No effect while that is
  // under way.
  void resync_late();
  // The newest revision the watch has delivered.
  Revision applied() const { return Revision(applied_.load(std::memory_order_acquire)); }
  // Ends the watch. No handler call runs or follows afterwards. REQUIRES: not inside a callback of
  // the store.
  void stop();

 private:
  class Handler;
  using Actions = std::vector<std::function<void()>>;

  void open_watch(std::uint64_t number);
  void on_created(std::uint64_t number, Revision revision);
  void on_events(std::uint64_t number, const std::vector<WatchEvent>& events);
  void on_ended(std::uint64_t number, const Error& error);
  void on_anchor(std::uint64_t number, Result<TxnResult> answer);

  // Does what a step demands while mutex_ is held; the caller runs the returned actions afterwards.
  Actions obey_locked(const WatchFollower::Step& step) REQUIRES(mutex_);
  void reopen_locked(Revision from, Actions& actions) REQUIRES(mutex_);
  void finish(const WatchFollower::Step& step, Actions actions);
  enum class Told { kNotYet, kAlready };  // the followers
  void apply(const std::vector<WatchEvent>& events, Told told);
  void tell_followers(const std::vector<WatchEvent>& events);
  void close(const Error& error);

  SessionContext& context_;
  const std::function<void(Error)> on_disproof_;
  std::atomic<std::int64_t> applied_{0};
  std::vector<std::unique_ptr<Following>> following_;  // set by the constructor

  Mutex mutex_;  // lock order: before the cache's shards and the applied waiters
  bool closed_ GUARDED_BY(mutex_) = false;
  WatchFollower follower_ GUARDED_BY(mutex_);
  // Number of the current watch; calls of older ones are ignored.
  std::uint64_t number_ GUARDED_BY(mutex_) = 0;
  // Watches in a row that ended before they delivered anything.
  int failures_ GUARDED_BY(mutex_) = 0;
  log::Repeats resyncs_said_ GUARDED_BY(mutex_){1, kResyncSaidNs};
  Revision next_from_ GUARDED_BY(mutex_);  // where the next watch starts; 0 = now
  std::function<void(Status)> ready_ GUARDED_BY(mutex_);
  std::unique_ptr<Handler> handler_ GUARDED_BY(mutex_);
  std::unique_ptr<Watch> watch_ GUARDED_BY(mutex_);
};

}  // namespace symnas::kv
