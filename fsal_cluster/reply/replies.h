// Replies: the reply cache of a mount. The transaction that carries out a call also records it; the
// next instance of the VNFS answers the same call from the record instead of changing anything
// again. Why, and against which interleavings: docs/decisions/0009.
//
// Thread class: thread-safe; owns a thread (the sweep).
// Invariants: a record exists exactly when its operation was carried out; only calls of former
// epochs are answered, and only for kReplyLookNs after the start.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/base/ids.h"
#include "common/base/loop.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/reply/call.h"
#include "fsal_cluster/reply/known_replies.h"
#include "fsal_cluster/reply/reply_ring.h"

namespace symnas::fs {

class Replies {
 public:
  struct Options {
    FsId fs;
    VnfsId vnfs;
    Epoch epoch;
  };
  // `session` and `clock` outlive it. The kReplyLookNs begin now.
  Replies(kv::Session& session, const env::Clock& clock, Options options);
  ~Replies();
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;

  // The put that records the call of this thread (call_in_progress()), for the transaction that
  // carries it out. nullopt: there is no call, or its client is beyond kReplyClientsMax. All tries
  // of one call use the same key. Never blocks.
  std::optional<kv::Op> record(Ino ino, Generation generation);

  // What a former instance has done for the call; nullopt: nothing is known. The first call of a
  // client reads the client's records (one range read); its other calls wait for that read. Errors:
  // those of Session::range.
  Result<std::optional<Done>> find(const Call& call);

  // Starts the thread that erases records which are not needed any more, now and from time to time.
  void start_sweep();
  void stop();
  // One round of the sweep: erases records of former epochs after kReplyEraseNs, and records of
  // idle clients. Errors: those of the session.
  Status sweep();

 private:
  struct Client {
    Mutex mutex;
    bool loaded GUARDED_BY(mutex) = false;
    KnownReplies known GUARDED_BY(mutex);
  };

  std::optional<std::uint32_t> place_for(const std::string& client);
  std::shared_ptr<Client> client_of(const Call& call);
  bool looks() const;
  Status erase_former();
  Status erase_idle();
  Status erase(kv::KeyRange range);

  kv::Session& session_;
  const env::Clock& clock_;
  const Options options_;
  const std::int64_t started_ns_;       // monotonic
  const std::int64_t started_time_ns_;  // filesystem time
  Mutex mutex_;                         // a leaf
  std::unordered_map<std::string, ReplyRing> rings_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::shared_ptr<Client>> former_ GUARDED_BY(mutex_);
  bool former_erased_ = false;  // confined to the thread of the sweep
  Loop sweeping_;               // last: it uses all else
};

}  // namespace symnas::fs
