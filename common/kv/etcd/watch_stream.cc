#include "common/kv/etcd/watch_stream.h"

#include <utility>

#include "common/base/log.h"
#include "common/kv/etcd/wire.h"

namespace symnas::kv::etcd {

WatchStream::WatchStream(Loop& loop, SteadyClock::time_point deadline, const KeyRange& range,
                         Revision start_revision, WatchHandler* handler)
    : Operation(loop, deadline),
      request_(wire::encode_watch(range, start_revision)),
      start_revision_(start_revision),
      handler_(handler) {}

void WatchStream::silence() {
  const MutexLock lock(call_mutex_);
  handler_ = nullptr;
}

void WatchStream::start(Member& member) {
  member_ = member.index;
  // A member that is cut off from its leader ends the stream instead of falling silent.
  context_.AddMetadata("hasleader", "true");
  stream_ = member.watch->PrepareAsyncWatch(&context_, &loop_.queue());
  stream_->StartCall(static_cast<Operation*>(this));
}

void WatchStream::give_up(Error error) { end(std::move(error)); }

void WatchStream::cancel() {
  cancel_requested_ = true;
  if (started_) context_.TryCancel();
}

void WatchStream::complete(bool ok) {
  switch (step_) {
    case Step::kStart:
      started_ = true;
      if (cancel_requested_) context_.TryCancel();
      if (!ok) return finish();
      step_ = Step::kWrite;
      stream_->Write(request_, static_cast<Operation*>(this));
      return;
    case Step::kWrite:
      if (!ok) return finish();
      return read_next();
    case Step::kRead:
      if (!ok || receive() == Received::kOver) return finish();
      return read_next();
    case Step::kFinish:
      loop_.finished(*this);
      end(error_of_stream());
      return;
  }
}

void WatchStream::read_next() {
  step_ = Step::kRead;
  stream_->Read(&response_, static_cast<Operation*>(this));
}

void WatchStream::finish() {
  step_ = Step::kFinish;
  stream_->Finish(&status_, static_cast<Operation*>(this));
}

WatchStream::Received WatchStream::receive() {
  const MutexLock lock(call_mutex_);
  if (response_.created() && handler_ != nullptr) {
    handler_->on_watch_created(start_revision_.value() == 0
                                   ? Revision(response_.header().revision())
                                   : Revision(start_revision_.value() - 1));
  }
  if (response_.events_size() > 0 && handler_ != nullptr) {
    std::vector<WatchEvent> events = wire::decode_events(response_);
    const Revision last = events.back().kv.mod_revision;
    handler_->on_watch_events(std::move(events), last);
  }
  if (!response_.canceled()) return Received::kGoOn;
  cancelled_by_server_ =
      response_.compact_revision() != 0
          ? Error{ErrorCode::kCompacted, "etcd: watch start revision is compacted"}
          : Error{ErrorCode::kUnavailable, "etcd: watch cancelled: " + response_.cancel_reason()};
  context_.TryCancel();
  return Received::kOver;
}

Error WatchStream::error_of_stream() const {
  if (cancelled_by_server_) return *cancelled_by_server_;
  if (loop_.stopping()) return Error{ErrorCode::kShutdown, "etcd: store closed"};
  return Error{ErrorCode::kUnavailable, "etcd: watch lost: " + status_.error_message()};
}

void WatchStream::end(Error error) {
  if (error.code == ErrorCode::kUnavailable && stream_ != nullptr) loop_.member_failed(member_);
  const MutexLock lock(call_mutex_);
  WatchHandler* const handler = std::exchange(handler_, nullptr);
  if (handler == nullptr) return;
  log::debug("etcd: watch ended: {}", error.message);
  handler->on_watch_ended(std::move(error));
}

}  // namespace symnas::kv::etcd
