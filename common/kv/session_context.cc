#include "common/kv/session_context.h"

#include <algorithm>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/limits.h"

namespace symnas::kv {

namespace {

std::string printable(const std::string& key) {
  const bool is_text =
      std::all_of(key.begin(), key.end(), [](char c) { return c > 32 && c < 127; });
  return is_text ? key : "0x" + to_hex(key);
}

}  // namespace

SessionContext::SessionContext(Store& the_store, const env::Clock& the_clock,
                               SessionOptions the_options, std::function<void(Error)> on_ended,
                               std::function<void()> wake)
    : store(the_store),
      clock(the_clock),
      options(std::move(the_options)),
      name(printable(options.mount_key)),
      cache(options.cache_bytes_max),
      timers(std::move(wake)),
      on_ended_(std::move(on_ended)) {}

void SessionContext::close(Error error, Announce announce) {
  bool call = false;
  std::map<std::uint64_t, std::shared_ptr<ReadTry>> reads;
  {
    const MutexLock lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) return;
    error_ = error;
    closed_.store(true, std::memory_order_release);
    call = opened_ && announce == Announce::kYes;
    reads.swap(reads_);
  }
  // The disproof comes first: a process that exits on it has answered nobody.
  if (call && on_ended_) on_ended_(error);
  for (const auto& part : parts_) part(error);
  for (const auto& [number, read] : reads) read->done(tl::unexpected<Error>(error));
  timers.close();
}

Status SessionContext::opened() {
  const MutexLock lock(mutex_);
  if (closed_.load(std::memory_order_relaxed)) return tl::unexpected<Error>(error_);
  opened_ = true;
  return {};
}

Error SessionContext::close_error() const {
  const MutexLock lock(mutex_);
  return error_;
}

void SessionContext::when_applied(Revision revision, std::int64_t patience_ms,
                                  std::function<void()> action) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  applied_waiters.wait_for(revision, [done, action = std::move(action)] {
    done->store(true, std::memory_order_release);
    action();
  });
  if (done->load(std::memory_order_acquire)) return;
  timers.add(now_ns() + patience_ms * 1'000'000, [self = keep_alive(), done] {
    if (!done->load(std::memory_order_acquire)) self->drop_late_watch();
  });
}

std::int64_t SessionContext::retry_at_ns(int tries, std::uint64_t salt) const {
  const int doublings = std::clamp(tries - 1, 0, 8);
  const std::int64_t pause_ms = std::min(kRetryPauseMs << doublings, kRetryPauseMaxMs);
  const auto jitter_ms = static_cast<std::int64_t>(salt * 7 % 8);
  return now_ns() + (pause_ms + jitter_ms) * 1'000'000;
}

TryOptions SessionContext::try_options(int unanswered_tries) {
  TryOptions options;
  options.timeout_ms =
      std::min(kTryTimeoutMs << std::clamp(unanswered_tries, 0, 8), kTryTimeoutMaxMs);
  return options;
}

void SessionContext::note_retry(const char* what, int tries, const std::string& why) const {
  constexpr int kFirstNote = 16;  // about two seconds
  const bool power_of_two = (tries & (tries - 1)) == 0;
  if (tries < kFirstNote || !power_of_two) return;
  log::warn("session of mount {}: {} waits for etcd, {} tries so far: {}", name, what, tries, why);
}

void SessionContext::read(std::vector<Op> ranges, ReadCallback done) {
  auto attempt = std::make_shared<ReadTry>();
  attempt->txn.success = std::move(ranges);
  attempt->done = std::move(done);
  bool registered = false;
  {
    const MutexLock lock(mutex_);
    registered = !is_closed();  // from here on close() answers this read
    attempt->number = next_read_++;
    if (registered) reads_.emplace(attempt->number, attempt);
  }
  if (!registered) {
    attempt->done(tl::unexpected<Error>(close_error()));
    return;
  }
  send_read(attempt);
}

bool SessionContext::take_read(const std::shared_ptr<ReadTry>& attempt) {
  const MutexLock lock(mutex_);
  return reads_.erase(attempt->number) > 0;
}

void SessionContext::send_read(const std::shared_ptr<ReadTry>& attempt) {
  if (is_closed()) return;  // close() has answered this read
  const TryOptions try_once = try_options(attempt->tries);
  ++attempt->tries;
  Txn txn = attempt->txn;
  store.txn(std::move(txn), try_once, [self = keep_alive(), attempt](Result<TxnResult> answer) {
    const Inside inside(*self);
    const bool final = answer || answer.error().code == ErrorCode::kTooLarge ||
                       answer.error().code == ErrorCode::kInvalidArgument;
    if (final) {
      if (self->take_read(attempt)) attempt->done(std::move(answer));
      return;
    }
    if (self->is_closed()) return;
    self->note_retry("a read", attempt->tries, answer.error().message);
    self->timers.add(self->retry_at_ns(attempt->tries, attempt->number),
                     [self, attempt] { self->send_read(attempt); });
  });
}

}  // namespace symnas::kv
