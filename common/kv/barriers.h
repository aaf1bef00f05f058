// Barriers: INV-4's proof that the cache reflects every change acknowledged before a request
// arrived. The proof is a linearizable read of the stamp, sent after the request came, and then a
// wait until the watch has applied the revision of that stamp.
//
// Thread class: thread-safe.
// Invariant: a request never joins a read that has already been sent. Such a read may have missed a
// change that was acknowledged after it was sent and before the request.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/kv/session_context.h"

namespace symnas::kv {

class Barriers {
 public:
  using Callback = std::function<void(Status)>;

  explicit Barriers(SessionContext& context);

  // Calls `done` once the cache reflects every change acknowledged before this call, or is empty.
  // Errors: the error that closed the session.
  void barrier(Callback done);

 private:
  struct Round {
    std::vector<Callback> callers;
  };
  void send(std::shared_ptr<Round> round);
  void on_stamp(const std::shared_ptr<Round>& round, const Result<TxnResult>& answer);
  static void finish(Round& round, const Status& status);
  void close(const Error& error);

  SessionContext& context_;
  Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  int reads_in_flight_ GUARDED_BY(mutex_) = 0;
  // Wait for the next read to be sent.
  std::vector<Callback> waiting_ GUARDED_BY(mutex_);
};

}  // namespace symnas::kv
