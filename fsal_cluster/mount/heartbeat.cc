#include "fsal_cluster/mount/heartbeat.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "common/kv/slot.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

Heartbeat::Heartbeat(kv::Session& session, const env::Clock& clock, Gate& gate, FsId fs,
                     MountId mount, Proof proof, Report report)
    : session_(session),
      clock_(clock),
      gate_(gate),
      fs_(fs),
      mount_(mount),
      proof_(std::move(proof)),
      report_(std::move(report)),
      thread_([this] { run(); }) {
  gate_.on_wanted([state = state_] {
    { const MutexLock lock(state->mutex); }  // whoever has just looked waits by now
    state->changed.notify_all();
  });
}

Heartbeat::~Heartbeat() {
  gate_.on_wanted({});
  {
    const MutexLock lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  thread_.join();
}

void Heartbeat::run() {
  for (;;) {
    if (!beat()) return;
    const std::int64_t due_ns = sent_ns_ + kHeartbeatNs;
    // Proofs by reads cost more, and end no want: nobody else sees them.
    const std::int64_t pause_ns = by_reads_ ? kTouchNs : kHeartbeatMinNs;
    if (stopped_within(sent_ns_ + pause_ns - clock_.mono_ns())) return;
    if (stopped_before_wanted(due_ns - clock_.mono_ns())) return;
  }
}

bool Heartbeat::beat() {
  const std::int64_t sent_ns = clock_.mono_ns();
  sent_ns_ = touched_ns_ = sent_ns;
  const auto answer = put_key(sent_ns);
  by_reads_ = false;
  if (!answer) return false;
  if (!*answer) {
    Status proof = tl::unexpected<Error>(answer->error());
    if (proof.error().code == ErrorCode::kNoSpace) proof = read_proof();
    if (proof) {
      by_reads_ = true;
      gate_.confirm(sent_ns, Gate::Seen::kByUs);
      prove(sent_ns);
      return true;
    }
    const Error& error = proof.error();
    if (error.code == ErrorCode::kEnded && proof_.on_ended) proof_.on_ended(error);
    if (error.code == ErrorCode::kEnded || error.code == ErrorCode::kShutdown) return false;
    log::warn("heartbeat failed: {}", error.message);
    return !stopped_within(kTouchNs);
  }
  if ((*answer)->succeeded) gate_.confirm(sent_ns, Gate::Seen::kByEverybody);
  switch (wait_until_applied((*answer)->revision, sent_ns)) {
    case Applied::kYes: break;
    case Applied::kTooLate: return true;
    case Applied::kStopped: return false;
  }
  prove(sent_ns);
  return true;
}

Status Heartbeat::read_proof() {
  const std::string record = kv::keys::mount(fs_, mount_);
  const std::string ended = kv::keys::mount_ended(fs_, mount_);
  bool exists = false;
  SYMNAS_ASSIGN(const kv::OpResult records, session_.range(kv::prefix_range(record), 0));
  for (const kv::KeyValue& kv : records.kvs) {
    if (kv.key == ended) return fail(ErrorCode::kEnded, "this mount has an end record");
    exists = exists || kv.key == record;
  }
  if (!exists) return fail(ErrorCode::kEnded, "this mount's record is gone");
  // A fence disproves the owner record first; the end records come later.
  for (const kv::Compare& guard : proof_.guards) {
    SYMNAS_ASSIGN(const kv::OpResult guarded, session_.range(guard.range, 0));
    if (!kv::holds(guard, guarded.kvs))
      return fail(ErrorCode::kEnded,
                  "a guard of this mount does not hold any more: the owner "
                  "record of its VNFS is another one");
  }
  return session_.barrier();
}

void Heartbeat::prove(std::int64_t sent_ns) {
  const bool was_open = gate_.is_open();
  gate_.prove(sent_ns);
  if (!was_open && gate_.is_open())
    log::info("the store answers again after {} ms: held requests go on",
              (clock_.mono_ns() - sent_ns) / 1'000'000);
}

std::optional<Result<kv::Committed>> Heartbeat::put_key(std::int64_t sent_ns) {
  records::HeartbeatRecord record;
  record.set_sent_ns(sent_ns);
  report_(record);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.writes = {kv::put(kv::keys::heartbeat(fs_, mount_), record.SerializeAsString())};
  session_.commit(std::move(mutation), [state = state_](Result<kv::Committed> answer) {
    {
      const MutexLock lock(state->mutex);
      state->answer = std::move(answer);
    }
    state->changed.notify_all();
  });
  MutexLock lock(state_->mutex);
  bool said = false;
  while (!state_->stop && !state_->answer) {
    state_->changed.wait_for(
        state_->mutex, std::chrono::nanoseconds(gate_.holds_answers() ? kTouchWantedNs : kTouchNs));
    if (state_->stop || state_->answer) break;
    lock.unlock();
    touch_if_due(clock_.mono_ns());
    lock.lock();
    if (said || state_->answer || gate_.is_open()) continue;
    said = true;
    log::warn(
        "no proof for {} s that this mount has not ended: requests are held until the store "
        "answers (symnas status shows its members)",
        kGateWindowNs / 1'000'000'000);
  }
  if (state_->stop) return std::nullopt;
  return std::exchange(state_->answer, std::nullopt);
}

Heartbeat::Applied Heartbeat::wait_until_applied(Revision revision, std::int64_t sent_ns) {
  while (session_.applied() < revision) {
    if (clock_.mono_ns() - sent_ns >= kGateWindowNs) return Applied::kTooLate;
    if (stopped_within(kHeartbeatPollNs)) return Applied::kStopped;
    touch_if_due(clock_.mono_ns());
  }
  return Applied::kYes;
}

void Heartbeat::touch_if_due(std::int64_t now_ns) {
  const std::int64_t after_ns = gate_.holds_answers() ? kTouchWantedNs : kTouchNs;
  if (!proof_.touch || now_ns - touched_ns_ < after_ns) return;
  touched_ns_ = now_ns;
  proof_.touch();
}

bool Heartbeat::stopped_before_wanted(std::int64_t span_ns) {
  const MutexLock lock(state_->mutex);
  state_->changed.wait_for(
      state_->mutex, std::chrono::nanoseconds(std::max<std::int64_t>(span_ns, 0)),
      [this]() REQUIRES(state_->mutex) { return state_->stop || gate_.is_wanted(); });
  return state_->stop;
}

bool Heartbeat::stopped_within(std::int64_t span_ns) {
  const MutexLock lock(state_->mutex);
  return state_->changed.wait_for(state_->mutex,
                                  std::chrono::nanoseconds(std::max<std::int64_t>(span_ns, 0)),
                                  [this]() REQUIRES(state_->mutex) { return state_->stop; });
}

}  // namespace symnas::fs
