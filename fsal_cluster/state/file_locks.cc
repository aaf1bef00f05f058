#include "fsal_cluster/state/file_locks.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

// Calls `write` with kLocksAtOnce at a time, until one fails.
template <class Key, class Write>
Status in_parts(const std::vector<Key>& keys, Write&& write) {
  const std::span<const Key> all(keys);
  for (std::size_t at = 0; at < all.size(); at += kLocksAtOnce)
    SYMNAS_TRY(write(all.subspan(at, std::min(kLocksAtOnce, all.size() - at))));
  return {};
}

}  // namespace

// A LOCK of an NLM client, from its begin to its end.
class FileLocks::UnderWay {
 public:
  UnderWay(FileLocks& locks, const LockOwner& owner)
      : locks_(locks), address_(nlm_address_of(owner)), begun_ns_(locks.clock_.mono_ns()) {
    if (address_.empty()) return;
    const MutexLock lock(locks_.mutex_);
    locks_.lives_.begin(address_);
  }
  ~UnderWay() {
    if (address_.empty()) return;
    const MutexLock lock(locks_.mutex_);
    locks_.lives_.end(address_);
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  bool is_of_former_life(const NlmLives& lives, std::int32_t state) const {
    return lives.is_over(address_, state, begun_ns_, locks_.serving_since_ns());
  }

 private:
  FileLocks& locks_;
  const std::string address_;  // "": it is no NLM client's
  const std::int64_t begun_ns_;
};

FileLocks::FileLocks(kv::Session& session, const env::Clock& clock, FsId fs, std::string vnfs,
                     Membership* membership, const Gate* gate, std::int64_t lease_s,
                     ForeignWaits* foreign_waits)
    : session_(session),
      clock_(clock),
      fs_(fs),
      vnfs_(std::move(vnfs)),
      membership_(membership),
      gate_(gate),
      foreign_waits_(foreign_waits),
      unclaimed_ns_(kUnclaimedLeases * lease_s * 1'000'000'000),
      loaded_ns_(clock.mono_ns()),
      recorder_(session, fs, vnfs_),
      alone_since_ns_(loaded_ns_) {}

Result<std::unique_ptr<FileLocks>> FileLocks::load(kv::Session& session, const env::Clock& clock,
                                                   FsId fs, std::string vnfs,
                                                   Membership* membership, const Gate* gate,
                                                   std::int64_t lease_s,
                                                   ForeignWaits* foreign_waits) {
  std::unique_ptr<FileLocks> locks(
      new FileLocks(session, clock, fs, std::move(vnfs), membership, gate, lease_s, foreign_waits));
  SYMNAS_ASSIGN(const kv::OpResult found, session.range(kv::prefix_range(kv::keys::locks(fs)), 0));
  SYMNAS_ASSIGN(const std::vector<ParsedLock> parsed, parse_locks(fs, found.kvs));
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    const kv::KeyValue& kv = found.kvs[i];
    const records::LockRecord& record = parsed[i].record;
    const Key key{Ino{record.ino()}, owner_of(record)};
    if (!parsed[i].readable)
      log::warn(
          "inode {}: lock record {} of {} cannot be parsed: its owner counts as holding all "
          "that nobody else holds until he has unlocked it; symnas lock clear ends that",
          record.ino(), to_hex(kv.key), record.vnfs());
    const bool is_own = record.vnfs() == locks->vnfs_;
    if (is_own) locks->recorder_.found(key, kv.mod_revision);
    const MutexLock lock(locks->mutex_);
    if (!is_own) {
      locks->foreign_.add(key.first, foreign_lock(kv, record));
      continue;
    }
    RecordedLock recorded = lock_of(record);
    if (recorded.ranges.empty() && !parsed[i].readable) continue;  // others hold all of the file
    if (recorded.ranges.empty()) {
      // It is no lock. As what an unlock has left, it is erased.
      log::warn("inode {}: lock record {} is of no byte: it is erased", record.ino(),
                to_hex(kv.key));
      locks->late_.add(key);
      continue;
    }
    locks->held_.load(key, std::move(recorded));
  }
  SYMNAS_TRY(locks->load_waits());
  locks->recording_.start(0, [raw = locks.get()] { return raw->record_late(); });
  return locks;
}

std::int64_t FileLocks::serving_since_ns() const {
  if (gate_ == nullptr) return loaded_ns_;
  return gate_->open_for_ns() ? std::max(loaded_ns_, gate_->open_since_ns()) : clock_.mono_ns();
}

bool FileLocks::revocable(const Key& key, const LockRange& range) const {
  return held_.is_unclaimed(key, range) && clock_.mono_ns() - serving_since_ns() > unclaimed_ns_;
}

std::optional<LockConflict> FileLocks::standing_conflict(Ino ino, const LockOwner& owner,
                                                         const LockRange& range) {
  for (;;) {
    std::optional<LockConflict> conflict;
    {
      const MutexLock lock(mutex_);
      conflict = held_.conflict(ino, owner, range);
      if (!conflict) return conflict;
      const LockRange both{std::max(range.start, conflict->range.start),
                           std::min(range.end, conflict->range.end), range.mode};
      if (!revocable({ino, conflict->holder}, both)) return conflict;
    }
    revoke_client(conflict->holder);
  }
}

// A client that did not come back for two leases loses everything it left behind, at once (courtesy
// ends for the whole client: half of its locks would be worth nothing to it). A client that came
// back loses what it has not claimed, which it does not count on. A lock of such a file waits for
// the record, as it does for any late unlock.
void FileLocks::revoke_client(const LockOwner& holder) {
  log::warn("locks of client {} are revoked: it has not claimed them for {} s",
            to_hex(holder.client), unclaimed_ns_ / 1'000'000'000);
  {
    const MutexLock lock(mutex_);
    leave_unclaimed(holder.client);
  }
  recording_.wake();
}

Status FileLocks::revoke_if_away(Ino ino, const LockOwner& owner, const LockRange& wanted) {
  const LockTurn turn(turns_, LockTurns::of(ino));
  bool away = false;
  {
    const MutexLock lock(mutex_);
    away = revocable({ino, owner}, wanted);
  }
  if (away) revoke_client(owner);
  return write_late({ino, owner});
}

bool FileLocks::is_recorded_as(Ino ino, const LockOwner& owner, Revision revision) {
  const LockTurn turn(turns_, LockTurns::of(ino));
  return recorder_.is_recorded_as({ino, owner}, revision);
}

std::optional<Membership::Stay> FileLocks::enter() const {
  if (membership_ == nullptr) return std::nullopt;
  return membership_->enter();
}

Status FileLocks::write_all(const std::vector<Key>& keys) {
  return in_parts(keys, [this](std::span<const Key> part) {
    const LockTurn turn(turns_, LockTurns::of(part));
    return write_late(part);
  });
}

Status FileLocks::write_late(std::span<const Key> keys) {
  std::vector<Key> gone;
  {
    const MutexLock lock(mutex_);
    for (const Key& key : keys)
      if (held_.held(key).empty() && late_.begin(key)) gone.push_back(key);
  }
  const Status erased = recorder_.erase(gone);
  {
    const MutexLock lock(mutex_);
    late_.end(gone, erased);
    for (const Key& key : gone)
      if (erased) note_freed(key.first);
  }
  if (!erased) return erased;
  for (const Key& key : keys) SYMNAS_TRY(write_late(key));
  return {};
}

Status FileLocks::write_late(const Key& key) {
  RecordedLock now;
  {
    const MutexLock lock(mutex_);
    if (!late_.begin(key)) return {};
    HeldLocks::Kept known = held_.kept(key);
    now = {held_.held(key), std::move(known.life), known.since_ns, known.guessed};
  }
  Status written = recorder_.write(key, now);
  const MutexLock lock(mutex_);
  late_.end({&key, 1}, written);
  if (written) note_freed(key.first);
  return written;
}

Status FileLocks::write_late_of(Ino ino) {
  for (;;) {
    std::optional<Key> key;
    {
      const MutexLock lock(mutex_);
      key = late_.one_on(ino);
    }
    if (!key) return {};
    SYMNAS_TRY(write_late(*key));
  }
}

Status FileLocks::record_unlocks() {
  // Those that others are recording, too: they may yet become late again.
  std::vector<Key> keys;
  {
    const MutexLock lock(mutex_);
    keys = late_.all();
  }
  return write_all(keys);
}

std::int64_t FileLocks::record_late() {
  {
    const MutexLock lock(mutex_);
    if (!late_.any() && !waits_.any_ended() && freed_.empty()) return Loop::kWhenWoken;
  }
  call_next();
  Status recorded = record_unlocks();
  if (recorded) recorded = erase_ended_waits();
  if (recorded) return 0;
  log::warn("an unlock, or the end of a wait, is not recorded yet: {}", recorded.error().message);
  recording_.stopped_within(kLateUnlockRetryMs * 1'000'000);  // whatever is late meanwhile
  return 0;
}

Result<FileLocks::LockOutcome> FileLocks::lock(Ino ino, const LockOwner& owner,
                                               const LockRange& range, bool is_reclaim,
                                               const ClientLife& life) {
  const UnderWay under_way(*this, owner);
  const LockTurn turn(turns_, LockTurns::of(ino));
  const Key key{ino, owner};
  {
    const MutexLock lock(mutex_);
    if (!is_reclaim && under_way.is_of_former_life(lives_, life.nsm_state))
      return fail(ErrorCode::kInvalidArgument, "the client has announced a later life since");
    const HeldLocks::Kept kept = held_.kept(key);
    const ClientLife& known = kept.life;
    const std::vector<LockRange>& held = held_.held(key);
    // A request from before the client's reboot that comes after it locks nothing. Neither does a
    // client whose numbers of lives begin again: its old locks must be cleared first.
    if (!is_reclaim && is_former_life(life.nsm_state, known.nsm_state))
      return LockOutcome{.granted = false, .conflict = {owner, held.front()}};
    // A lock that a former life left is no lock of this one: it is recorded again.
    const bool known_life = is_reclaim
                                ? !is_another_life({0, known.verifier}, {0, life.verifier})
                                : (life.nsm_state == 0 || life.nsm_state == known.nsm_state) &&
                                      !is_another_life(known, life);
    if (is_reclaim && !known_life) return LockOutcome{};
    const bool attaches =
        is_reclaim ? covers_at_least(held, range) : !kept.guessed && covers(held, range);
    if (known_life && attaches) {
      held_.claim(key, range);
      note_granted(key, range);
      return LockOutcome{.granted = true, .conflict = {}};
    }
    // Reclaimed in a stronger mode than recorded: the owner did not get the answer to the change.
    // It has held the range all the time, and gets it back unless another owner is in its way now.
    const LockRange at_all{range.start, range.end, LockMode::kShared};
    if (is_reclaim && !covers_at_least(held, at_all)) return LockOutcome{};
  }
  if (auto conflict = standing_conflict(ino, owner, range))
    return LockOutcome{.granted = false, .conflict = std::move(*conflict)};
  SYMNAS_TRY(write_late_of(ino));
  for (int attempt = 0; attempt <= kConflictRetriesMax; ++attempt) {
    auto tried = try_lock(key, range, is_reclaim ? ClientLife{} : life);
    if (!tried && tried.error().code == ErrorCode::kConflict) continue;
    if (!tried) return tl::unexpected<Error>(std::move(tried.error()));
    if (*tried) return LockOutcome{.granted = false, .conflict = std::move(**tried)};
    return LockOutcome{.granted = true, .conflict = {}};
  }
  return fail(ErrorCode::kConflict, "others kept locking the same file; try again later");
}

Result<std::optional<LockConflict>> FileLocks::try_lock(const Key& key, const LockRange& range,
                                                        const ClientLife& life) {
  const auto stay = enter();
  std::optional<kv::Compare> unchanged;
  if (stay && !stay->sole()) {
    SYMNAS_ASSIGN(unchanged, look(key.first));
  }
  if (auto conflict = foreign_conflict(key.first, range, stay ? &*stay : nullptr)) return conflict;
  if (stay && !stay->sole()) {
    if (auto older = older_wait(key, range)) return older;
  }
  RecordedLock wanted;
  HeldLocks::Kept after;
  {
    const MutexLock lock(mutex_);
    after = held_.kept_after(key, life, clock_.wall_ns());
    const std::vector<LockRange> held = held_.held_in(key, life);
    wanted = {with_range(held, range), after.life, after.since_ns, after.guessed};
    if (wanted.ranges.size() > std::max(held.size(), kLockRangesMax))
      return fail(ErrorCode::kTooLarge, fmt::format("one owner holds {} ranges of the file: unlock "
                                                    "some, or lock larger ones",
                                                    held.size()));
  }
  SYMNAS_TRY(recorder_.write(key, wanted, std::move(unchanged)));
  const MutexLock lock(mutex_);
  // Not what was written: the owner may have unlocked something meanwhile.
  held_.grant(key, range, life, std::move(after));
  note_granted(key, range);
  return std::optional<LockConflict>();
}

Status FileLocks::unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end,
                         Record when) {
  const Key key{ino, owner};
  bool waited = false;
  {
    const MutexLock lock(mutex_);
    waits_.end_left_within(ino, owner, start, end);
    waited = waits_.owes(ino, owner);
    const std::vector<LockRange>& held = held_.held(key);
    std::vector<LockRange> left = without_range(held, start, end);
    if (left.size() > std::max(held.size(), kLockRangesHeldMax)) {
      log::warn("inode {}: range not split for an unlock: its owner holds {} ranges", ino.value(),
                held.size());
      return {};
    }
    if (left != held) {
      leave(key, std::move(left));
    } else if (!late_.owes(key) && !waited) {
      return {};
    }
  }
  Status recorded;
  if (when == Record::kNow) {
    const LockTurn turn(turns_, LockTurns::of(ino));
    recorded = write_late(key);
  }
  // A client that gives up waiting cancels, which is not recorded before its answer, and unlocks.
  // With its wait still recorded the next instance would grant it a lock that nobody wants.
  if (when == Record::kNow && recorded && waited) recorded = erase_ended_waits();
  recording_.wake();
  return recorded;
}

void FileLocks::note_nlm_life(const std::string& address, std::int32_t state) {
  const MutexLock lock(mutex_);
  lives_.note(address, state, clock_.mono_ns(), serving_since_ns());
}

Status FileLocks::forget_nlm_client(const std::string& address,
                                    std::optional<std::int32_t> but_state) {
  if (but_state) note_nlm_life(address, *but_state);
  std::vector<Key> keys;
  {
    // The table has all LOCKs by now that were begun before.
    const LockTurn turn(turns_, LockTurns::all());
    const MutexLock lock(mutex_);
    for (const Key& key : held_.of_nlm()) {
      if (!is_of_nlm_client(key.second, address)) continue;
      const HeldLocks::Kept kept = held_.kept(key);
      const std::int32_t locked_in = kept.life.nsm_state;
      // It may be of this life: only that it was not told is known.
      if (but_state && kept.guessed && locked_in == 0) continue;
      if (but_state && !is_lost_by_notice(locked_in, *but_state)) continue;
      leave(key, {});
    }
    // These, and the unlocks that could not be recorded before.
    keys = late_.of_nlm_client(address);
    for (const std::string& wait : waits_.left_of_nlm(address, but_state)) waits_.end(wait);
  }
  recording_.wake();
  if (keys.empty()) return {};
  log::info("NLM client {}: has lost its locks: they are released on {} files", address,
            keys.size());
  const Status recorded = write_all(keys);
  recording_.wake();
  return recorded;
}

Status FileLocks::forget_former_lives(const std::string& client, const std::string& verifier) {
  const auto leave_former = [&]() REQUIRES(mutex_) {
    std::vector<Key> keys = held_.of_nfs4_client(client);
    std::erase_if(keys, [&](const Key& key) REQUIRES(mutex_) {
      return !is_another_life(held_.kept(key).life, {0, verifier});
    });
    for (const Key& key : keys) leave(key, {});
    return keys;
  };
  return forget_nfs4_client(client, "is back in a new life: its locks of the former one are",
                            leave_former);
}

Status FileLocks::forget_unclaimed(const std::string& client) {
  return forget_nfs4_client(client, "has ended its reclaims: what it has not reclaimed is",
                            [&]() REQUIRES(mutex_) { return leave_unclaimed(client); });
}

void FileLocks::leave(const Key& key, std::vector<LockRange> ranges) {
  held_.hold(key, std::move(ranges));
  late_.add(key);
}

std::vector<FileLocks::Key> FileLocks::leave_unclaimed(const std::string& client) {
  std::vector<Key> keys = held_.unclaimed_of(client);
  for (const Key& key : keys) leave(key, held_.claimed(key));
  return keys;
}

Status FileLocks::forget_nfs4_client(const std::string& client, std::string_view why,
                                     const std::function<std::vector<Key>()>& leave_them) {
  std::vector<Key> keys;
  {
    const MutexLock lock(mutex_);
    keys = leave_them();
  }
  if (keys.empty()) return {};
  log::info("client {}: {} released on {} files", to_hex(client), why, keys.size());
  const Status recorded = write_all(keys);
  recording_.wake();
  return recorded;
}

std::set<NlmClient> FileLocks::nlm_clients() const {
  const MutexLock lock(mutex_);
  return held_.nlm_clients();
}

bool FileLocks::has_nlm_client(const std::string& address) const {
  const MutexLock lock(mutex_);
  return held_.has_nlm_client(address) || lives_.any_under_way(address) || late_.owes_of(address);
}

bool FileLocks::has_outlived_locks(const LockOwner& owner, std::int32_t state) {
  const auto client = nlm_client_of(owner);
  if (!client || state == 0) return false;
  const MutexLock lock(mutex_);
  return held_.has_former(*client, state);
}

bool FileLocks::owes_unlocks_of(const std::string& address) const {
  const MutexLock lock(mutex_);
  return late_.owes_of(address);
}

FileLocks::LockOutcome FileLocks::test(Ino ino, const LockOwner& owner, const LockRange& range) {
  const LockTurn turn(turns_, LockTurns::of(ino));
  if (auto conflict = standing_conflict(ino, owner, range))
    return LockOutcome{.granted = false, .conflict = std::move(*conflict)};
  const auto stay = enter();
  // A failure means that the mount is over: then this answer is not reported.
  if (stay && !stay->sole()) static_cast<void>(look(ino));
  if (auto conflict = foreign_conflict(ino, range, stay ? &*stay : nullptr))
    return LockOutcome{.granted = false, .conflict = std::move(*conflict)};
  return LockOutcome{.granted = true, .conflict = {}};
}

std::size_t FileLocks::size() const {
  const MutexLock lock(mutex_);
  return held_.size();
}

}  // namespace symnas::fs
