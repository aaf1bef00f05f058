#include "common/kv/barriers.h"

#include <utility>

#include "common/kv/limits.h"
#include "common/kv/watch_follower.h"

namespace symnas::kv {

Barriers::Barriers(SessionContext& context) : context_(context) {
  context_.on_close([this](const Error& error) { close(error); });
}

void Barriers::barrier(Callback done) {
  context_.counters.barriers.fetch_add(1, std::memory_order_relaxed);
  auto round = std::make_shared<Round>();
  {
    MutexLock lock(mutex_);
    if (closed_) {
      lock.unlock();
      return done(tl::unexpected<Error>(context_.close_error()));
    }
    waiting_.push_back(std::move(done));
    if (reads_in_flight_ == kBarrierReadsInFlightMax) return;
    ++reads_in_flight_;
    round->callers.swap(waiting_);
  }
  send(std::move(round));
}

void Barriers::send(std::shared_ptr<Round> round) {
  context_.read({get(context_.options.stamp_key)},
                [this, keep = context_.keep_alive(), round](Result<TxnResult> answer) {
                  on_stamp(round, answer);
                });
}

void Barriers::on_stamp(const std::shared_ptr<Round>& round, const Result<TxnResult>& answer) {
  auto next = std::make_shared<Round>();
  {
    const MutexLock lock(mutex_);
    if (waiting_.empty()) {
      --reads_in_flight_;
    } else {
      next->callers.swap(waiting_);
    }
  }
  if (!next->callers.empty()) send(std::move(next));
  if (!answer) {
    finish(*round, tl::unexpected<Error>(answer.error()));
    return;
  }
  const auto& kvs = answer->results.front().kvs;
  const Revision stamped = kvs.empty() ? Revision(0) : kvs.front().mod_revision;
  // With a shut cache nothing old is found, and images are incomplete until they are as young: the
  // caller reads on although the watch has not told of the stamp.
  if (!kvs.empty())
    if (const auto time_ns = decode_stamp(kvs.front().value)) context_.time.observe(*time_ns);
  context_.applied_waiters.note_barrier(stamped);
  context_.when_applied(stamped, kBarrierWatchWaitMs, [this, round] {
    finish(*round,
           context_.is_closed() ? Status(tl::unexpected<Error>(context_.close_error())) : Status());
  });
}

void Barriers::finish(Round& round, const Status& status) {
  for (auto& caller : std::exchange(round.callers, {})) caller(status);
}

void Barriers::close(const Error& error) {
  std::vector<Callback> callers;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    callers.swap(waiting_);
  }
  for (auto& caller : callers) caller(tl::unexpected<Error>(error));
}

}  // namespace symnas::kv
