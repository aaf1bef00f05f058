// WatchStream: one watch on one gRPC stream. It ends when the stream ends; opening it again is its
// owner's business.
//
// Thread class: see Operation; silence() is thread-safe.
// Invariants: the handler is called by one thread at a time, and not after silence() or
// on_watch_ended.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <optional>

#include "common/base/thread_annotations.h"
#include "common/kv/etcd/loop.h"
#include "common/kv/etcd/rpc.grpc.pb.h"
#include "common/kv/store.h"

namespace symnas::kv::etcd {

class WatchStream final : public Operation {
 public:
  WatchStream(Loop& loop, SteadyClock::time_point deadline, const KeyRange& range,
              Revision start_revision, WatchHandler* handler);
  // No handler call runs or follows once this has returned.
  void silence();

  void start(Member& member) override;
  void give_up(Error error) override;
  void complete(bool ok) override;
  void cancel() override;
  bool leaves(std::size_t member) const override { return member == member_; }

 private:
  using Stream =
      grpc::ClientAsyncReaderWriter<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>;
  // What the outstanding tag means.
  enum class Step { kStart, kWrite, kRead, kFinish };
  enum class Received { kGoOn, kOver };

  Received receive();
  void read_next();
  void finish();
  void end(Error error);
  Error error_of_stream() const;

  const etcdserverpb::WatchRequest request_;
  const Revision start_revision_;
  std::size_t member_ = 0;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  Step step_ = Step::kStart;
  // If a stream is cancelled before its headers are sent, gRPC 1.51 resets a stream that the server
  // has never heard of: a protocol error, which costs the whole connection. So the cancellation
  // waits for the start.
  std::atomic<bool> started_ = false;
  std::atomic<bool> cancel_requested_ = false;
  etcdserverpb::WatchResponse response_;
  grpc::Status status_;
  std::optional<Error> cancelled_by_server_;

  Mutex call_mutex_;                               // held while the handler runs
  WatchHandler* handler_ GUARDED_BY(call_mutex_);  // null: no more calls
};

}  // namespace symnas::kv::etcd
