// SessionCore: a whole session without a thread of its own. Everything in it happens inside a call:
// of its user, of the store, or of poll(), which runs what has become due. Session::open() gives it
// a thread; a simulation calls poll() itself.
//
// Thread class: thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/kv/barriers.h"
#include "common/kv/cached_reader.h"
#include "common/kv/committer.h"
#include "common/kv/session_context.h"
#include "common/kv/watch_keeper.h"

namespace symnas::kv {

class SessionCore final : public SessionContext {
 public:
  // REQUIRES: made with std::make_shared. `wake` is called when poll() must be called before the
  // time it returned.
  SessionCore(Store& the_store, const env::Clock& the_clock, SessionOptions the_options,
              std::function<void(Error)> on_ended, std::function<void()> wake);

  // Opens the watch and arms the slots; `opened` is called once.
  // Errors: kEnded, kInvalidArgument (the session's name has been used before), what close() was
  // called with.
  void start(std::function<void(Status)> opened);
  // Runs what is due. Returns the monotonic time of the next call; nullopt: not before `wake`.
  // REQUIRES: not inside a callback of the store.
  std::optional<std::int64_t> poll() { return timers.run_due(now_ns()); }
  // Ends the session for good: everything pending answers kShutdown, and the watch is gone when
  // this returns.
  // REQUIRES: no poll() runs; not inside a callback of the store.
  void shut_down();

  Committer& committer() { return committer_; }
  CachedReader& reader() { return reader_; }
  Barriers& barriers() { return barriers_; }
  WatchKeeper& watch_keeper() { return watch_; }
  SessionCounters snapshot_counters() const;

 private:
  void part_ready(Status status);

  Committer committer_;
  WatchKeeper watch_;
  CachedReader reader_;
  Barriers barriers_;
  Mutex mutex_;
  int parts_to_start_ GUARDED_BY(mutex_) = 2;
  std::function<void(Status)> opened_callback_ GUARDED_BY(mutex_);
};

}  // namespace symnas::kv
