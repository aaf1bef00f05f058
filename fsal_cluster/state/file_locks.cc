#include "fsal_cluster/state/file_locks.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

std::string nlm_address_of(const LockOwner& owner) {
  if (owner.protocol != LockProtocol::kNlm) return "";
  const auto client = parse_nlm_client(owner.client);
  return client ? client->address : "";
}

bool is_of_nlm_client(const std::pair<Ino, LockOwner>& key, const std::string& address) {
  return key.second.protocol == LockProtocol::kNlm && nlm_address_of(key.second) == address;
}

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
                     Membership* membership, const Gate* gate, std::int64_t lease_s)
    : session_(session),
      clock_(clock),
      fs_(fs),
      vnfs_(std::move(vnfs)),
      membership_(membership),
      gate_(gate),
      unclaimed_ns_(kUnclaimedLeases * lease_s * 1'000'000'000),
      loaded_ns_(clock.mono_ns()),
      alone_since_ns_(loaded_ns_) {}

Result<std::unique_ptr<FileLocks>> FileLocks::load(kv::Session& session, const env::Clock& clock,
                                                   FsId fs, std::string vnfs,
                                                   Membership* membership, const Gate* gate,
                                                   std::int64_t lease_s) {
  std::unique_ptr<FileLocks> locks(
      new FileLocks(session, clock, fs, std::move(vnfs), membership, gate, lease_s));
  SYMNAS_ASSIGN(const kv::OpResult found, session.range(kv::prefix_range(kv::keys::locks(fs)), 0));
  const MutexLock order(locks->order_mutex_);
  const MutexLock mutex_lock(locks->mutex_);
  for (const kv::KeyValue& kv : found.kvs) {
    SYMNAS_ASSIGN(const records::LockRecord record, parse_lock(kv));
    if (record.vnfs() != locks->vnfs_) {
      locks->foreign_.add(Ino{record.ino()}, foreign_lock(kv, record));
      continue;
    }
    const Key key{Ino{record.ino()}, owner_of(record)};
    RecordedLock lock = lock_of(record);
    if (lock.ranges.empty())
      return fail(ErrorCode::kCorrupt,
                  "lock record " + to_hex(kv.key) + " holds nothing; run symnas fs check");
    if (key.second.protocol == LockProtocol::kNfs4)
      locks->unclaimed_.set(key.first, key.second, lock.ranges);
    locks->hold(key, std::move(lock.ranges));
    locks->kept_[key] = {std::move(lock.life), lock.since_ns};
    locks->mod_revision_[key] = kv.mod_revision;
  }
  locks->thread_ = std::thread([raw = locks.get()] { raw->run(); });
  return locks;
}

FileLocks::~FileLocks() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::int64_t FileLocks::serving_since_ns() const {
  if (gate_ == nullptr) return loaded_ns_;
  return std::max(loaded_ns_, clock_.mono_ns() - gate_->open_for_ns().value_or(0));
}

bool FileLocks::revocable(const Key& key, const LockRange& range) const {
  return overlaps(unclaimed_.held(key.first, key.second), range) &&
         clock_.mono_ns() - serving_since_ns() > unclaimed_ns_;
}

FileLocks::Kept FileLocks::kept(const Key& key) const {
  const auto found = kept_.find(key);
  return found == kept_.end() ? Kept{} : found->second;
}

std::vector<LockRange> FileLocks::held_in(const Key& key, const ClientLife& life) const {
  if (is_another_life(kept(key).life, life)) return {};
  return table_.held(key.first, key.second);
}

void FileLocks::hold(const Key& key, std::vector<LockRange> ranges) {
  const bool held = !table_.held(key.first, key.second).empty();
  const bool holds = !ranges.empty();
  if (!holds) kept_.erase(key);
  unclaimed_.set(key.first, key.second, within(unclaimed_.held(key.first, key.second), ranges));
  table_.set(key.first, key.second, std::move(ranges));
  if (held == holds || key.second.protocol != LockProtocol::kNlm) return;
  const auto client = parse_nlm_client(key.second.client);
  if (!client) return;
  if (holds) {
    ++nlm_clients_[*client];
  } else if (--nlm_clients_[*client] == 0) {
    nlm_clients_.erase(*client);
  }
}

// An owner that claims one recorded range in more parts than it may hold keeps all of it.
void FileLocks::claim(const Key& key, const LockRange& range) {
  const std::vector<LockRange>& before = unclaimed_.held(key.first, key.second);
  std::vector<LockRange> left = without_range(before, range.start, range.end);
  if (left.size() > std::max(before.size(), kLockRangesMax)) left.clear();
  unclaimed_.set(key.first, key.second, std::move(left));
}

std::optional<LockConflict> FileLocks::standing_conflict(Ino ino, const LockOwner& owner,
                                                         const LockRange& range) {
  for (;;) {
    std::optional<LockConflict> conflict;
    {
      const MutexLock lock(mutex_);
      conflict = table_.conflict(ino, owner, range);
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
  wake_.notify_all();
}

Status FileLocks::revoke_if_away(Ino ino, const LockOwner& owner, const LockRange& wanted) {
  const MutexLock order(order_mutex_);
  bool away = false;
  {
    const MutexLock lock(mutex_);
    away = revocable({ino, owner}, wanted);
  }
  if (away) revoke_client(owner);
  return write_late({ino, owner});
}

bool FileLocks::is_recorded_as(Ino ino, const LockOwner& owner, Revision revision) {
  const MutexLock order(order_mutex_);
  const auto known = mod_revision_.find({ino, owner});
  return known != mod_revision_.end() && known->second == revision;
}

std::optional<Membership::Stay> FileLocks::enter() const {
  if (membership_ == nullptr) return std::nullopt;
  return membership_->enter();
}

Result<Revision> FileLocks::stored_revision(const std::string& store_key) {
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(kv::single_key(store_key), 1));
  return found.kvs.empty() ? Revision{} : found.kvs.front().mod_revision;
}

Status FileLocks::write(const Key& key, const RecordedLock& lock,
                        std::optional<kv::Compare> unchanged) {
  const std::string store_key = lock_key(fs_, key.first, vnfs_, key.second);
  const auto known = mod_revision_.find(key);
  if (known == mod_revision_.end() && lock.ranges.empty()) return {};
  kv::Mutation mutation;
  mutation.growth = lock.ranges.empty() ? kv::Growth::kMustGo : kv::Growth::kChanges;
  mutation.compares.push_back(
      kv::mod_revision_is(store_key, known == mod_revision_.end() ? Revision{} : known->second));
  if (unchanged) mutation.compares.push_back(std::move(*unchanged));
  mutation.writes.push_back(
      lock.ranges.empty()
          ? kv::erase(store_key)
          : kv::put(store_key, to_record(key.first, vnfs_, key.second, lock).SerializeAsString()));
  SYMNAS_ASSIGN(const kv::Committed committed, session_.commit_blocking(std::move(mutation)));
  if (!committed.succeeded) {
    SYMNAS_ASSIGN(const Revision stored, stored_revision(store_key));
    if (stored == Revision{}) {
      mod_revision_.erase(key);
    } else {
      mod_revision_[key] = stored;
    }
    return fail(ErrorCode::kConflict, "lock records of the inode were changed by somebody else");
  }
  if (lock.ranges.empty())
    mod_revision_.erase(key);
  else
    mod_revision_[key] = committed.revision;
  return {};
}

Status FileLocks::write_all(const std::vector<Key>& keys) {
  return in_parts(keys, [this](std::span<const Key> part) {
    const MutexLock order(order_mutex_);
    return write_late(part);
  });
}

Status FileLocks::erase(std::span<const Key> keys) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  for (const Key& key : keys) {
    const auto known = mod_revision_.find(key);
    if (known == mod_revision_.end()) continue;
    const std::string store_key = lock_key(fs_, key.first, vnfs_, key.second);
    mutation.compares.push_back(kv::mod_revision_is(store_key, known->second));
    mutation.writes.push_back(kv::erase(store_key));
  }
  if (mutation.writes.empty()) return {};
  SYMNAS_ASSIGN(const kv::Committed committed, session_.commit_blocking(std::move(mutation)));
  if (!committed.succeeded) {
    // One of the records was changed by somebody else: each key is written by itself.
    for (const Key& key : keys) SYMNAS_TRY(write(key, {}));
    return {};
  }
  for (const Key& key : keys) mod_revision_.erase(key);
  return {};
}

Status FileLocks::write_late(std::span<const Key> keys) {
  std::vector<Key> gone;
  {
    const MutexLock lock(mutex_);
    for (const Key& key : keys)
      if (late_.contains(key) && table_.held(key.first, key.second).empty()) gone.push_back(key);
    for (const Key& key : gone) late_.erase(key);
    writing_.insert(gone.begin(), gone.end());
  }
  const Status erased = erase(gone);
  {
    const MutexLock lock(mutex_);
    writing_.clear();
    if (!erased) late_.insert(gone.begin(), gone.end());
  }
  if (!erased) return erased;
  for (const Key& key : keys) SYMNAS_TRY(write_late(key));
  return {};
}

Status FileLocks::write_late(const Key& key) {
  RecordedLock now;
  {
    const MutexLock lock(mutex_);
    if (late_.erase(key) == 0) return {};
    writing_.insert(key);
    Kept known = kept(key);
    now = {table_.held(key.first, key.second), std::move(known.life), known.since_ns};
  }
  Status written = write(key, now);
  const MutexLock lock(mutex_);
  writing_.clear();
  if (!written) late_.insert(key);
  return written;
}

Status FileLocks::write_late_of(Ino ino) {
  for (;;) {
    Key key;
    {
      const MutexLock lock(mutex_);
      const auto first = late_.lower_bound({ino, LockOwner{}});
      if (first == late_.end() || first->first != ino) return {};
      key = *first;
    }
    SYMNAS_TRY(write_late(key));
  }
}

Status FileLocks::record_unlocks() {
  // The thread that has the turn has taken keys out of late_, and may yet put them back.
  { const MutexLock turn(order_mutex_); }
  std::vector<Key> keys;
  {
    const MutexLock lock(mutex_);
    keys.assign(late_.begin(), late_.end());
  }
  return write_all(keys);
}

void FileLocks::run() {
  MutexLock lock(mutex_);
  while (!stop_) {
    wake_.wait(mutex_, [this]() REQUIRES(mutex_) { return stop_ || !late_.empty(); });
    if (stop_) return;
    lock.unlock();
    const Status recorded = record_unlocks();
    lock.lock();
    if (recorded) continue;
    log::warn("an unlock is not recorded yet: {}", recorded.error().message);
    wake_.wait_for(mutex_, std::chrono::milliseconds(kLateUnlockRetryMs),
                   [this]() REQUIRES(mutex_) { return stop_; });
  }
}

Result<FileLocks::Answer> FileLocks::lock(Ino ino, const LockOwner& owner, const LockRange& range,
                                          bool is_reclaim, const ClientLife& life) {
  const UnderWay under_way(*this, owner);
  const MutexLock order(order_mutex_);
  const Key key{ino, owner};
  {
    const MutexLock lock(mutex_);
    if (!is_reclaim && under_way.is_of_former_life(lives_, life.nsm_state))
      return fail(ErrorCode::kInvalidArgument, "the client has announced a later life since");
    const ClientLife known = kept(key).life;
    const std::vector<LockRange>& held = table_.held(ino, owner);
    // A request from before the client's reboot that comes after it locks nothing. Neither does a
    // client whose numbers of lives begin again: its old locks must be cleared first.
    if (!is_reclaim && is_former_life(life.nsm_state, known.nsm_state))
      return Answer{.granted = false, .conflict = {owner, held.front()}};
    // A lock that a former life left is no lock of this one: it is recorded again.
    const bool known_life = is_reclaim
                                ? !is_another_life({0, known.verifier}, {0, life.verifier})
                                : (life.nsm_state == 0 || life.nsm_state == known.nsm_state) &&
                                      !is_another_life(known, life);
    if (is_reclaim && !known_life) return Answer{};
    const bool attaches = is_reclaim ? covers_at_least(held, range) : covers(held, range);
    if (known_life && attaches) {
      claim(key, range);
      return Answer{.granted = true, .conflict = {}};
    }
    // Reclaimed in a stronger mode than recorded: the owner did not get the answer to the change.
    // It has held the range all the time, and gets it back unless another owner is in its way now.
    const LockRange at_all{range.start, range.end, LockMode::kShared};
    if (is_reclaim && !covers_at_least(held, at_all)) return Answer{};
  }
  if (auto conflict = standing_conflict(ino, owner, range))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  SYMNAS_TRY(write_late_of(ino));
  for (int attempt = 0; attempt <= kConflictRetriesMax; ++attempt) {
    auto tried = try_lock(key, range, is_reclaim ? ClientLife{} : life);
    if (!tried && tried.error().code == ErrorCode::kConflict) continue;
    if (!tried) return tl::unexpected<Error>(std::move(tried.error()));
    if (*tried) return Answer{.granted = false, .conflict = std::move(**tried)};
    return Answer{.granted = true, .conflict = {}};
  }
  return fail(ErrorCode::kConflict, "others kept locking the same file; try again later");
}

FileLocks::Kept FileLocks::kept_after(const Key& key, const ClientLife& life) const {
  Kept out = kept(key);
  if (is_another_life(out.life, life) || out.since_ns == 0) out.since_ns = clock_.wall_ns();
  if (life.nsm_state != 0) out.life.nsm_state = life.nsm_state;
  if (!life.verifier.empty()) out.life.verifier = life.verifier;
  return out;
}

Result<std::optional<LockConflict>> FileLocks::try_lock(const Key& key, const LockRange& range,
                                                        const ClientLife& life) {
  const auto stay = enter();
  std::optional<kv::Compare> unchanged;
  if (stay && !stay->sole()) {
    SYMNAS_ASSIGN(unchanged, look(key.first));
  }
  if (auto conflict = foreign_conflict(key.first, range, stay ? &*stay : nullptr)) return conflict;
  RecordedLock wanted;
  Kept after;
  {
    const MutexLock lock(mutex_);
    after = kept_after(key, life);
    const std::vector<LockRange> held = held_in(key, life);
    wanted = {with_range(held, range), after.life, after.since_ns};
    if (wanted.ranges.size() > std::max(held.size(), kLockRangesMax))
      return fail(ErrorCode::kTooLarge, fmt::format("one owner holds {} ranges of the file: unlock "
                                                    "some, or lock larger ones",
                                                    held.size()));
  }
  SYMNAS_TRY(write(key, wanted, std::move(unchanged)));
  const MutexLock lock(mutex_);
  // Not from what was written: the owner may have unlocked something meanwhile.
  hold(key, with_range(held_in(key, life), range));
  claim(key, range);
  kept_[key] = std::move(after);
  return std::optional<LockConflict>();
}

Status FileLocks::unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end,
                         Record when) {
  const Key key{ino, owner};
  {
    const MutexLock lock(mutex_);
    const std::vector<LockRange>& held = table_.held(ino, owner);
    std::vector<LockRange> left = without_range(held, start, end);
    if (left.size() > std::max(held.size(), kLockRangesHeldMax)) {
      log::warn("inode {}: range not split for an unlock: its owner holds {} ranges", ino.value(),
                held.size());
      return {};
    }
    if (left != held) {
      hold(key, std::move(left));
      late_.insert(key);
    } else if (!late_.contains(key) && !writing_.contains(key)) {
      return {};
    }
  }
  Status recorded;
  if (when == Record::kNow) {
    const MutexLock order(order_mutex_);
    recorded = write_late(key);
  }
  wake_.notify_all();
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
    const MutexLock order(order_mutex_);
    const MutexLock lock(mutex_);
    for (const Key& key : table_.of_protocol(LockProtocol::kNlm)) {
      if (!is_of_nlm_client(key, address)) continue;
      const std::int32_t locked_in = kept(key).life.nsm_state;
      if (but_state && !is_lost_by_notice(locked_in, *but_state)) continue;
      hold(key, {});
      late_.insert(key);
    }
    // Adds the unlocks that could not be recorded before.
    for (const Key& key : late_)
      if (is_of_nlm_client(key, address)) keys.push_back(key);
  }
  if (keys.empty()) return {};
  log::info("NLM client {}: has lost its locks: they are released on {} files", address,
            keys.size());
  const Status recorded = write_all(keys);
  wake_.notify_all();
  return recorded;
}

Status FileLocks::forget_former_lives(const std::string& client, const std::string& verifier) {
  const auto leave_former = [&]() REQUIRES(mutex_) {
    std::vector<Key> keys = table_.of_client(LockProtocol::kNfs4, client);
    std::erase_if(keys, [&](const Key& key) REQUIRES(mutex_) {
      return !is_another_life(kept(key).life, {0, verifier});
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
  hold(key, std::move(ranges));
  late_.insert(key);
}

std::vector<FileLocks::Key> FileLocks::leave_unclaimed(const std::string& client) {
  std::vector<Key> keys = unclaimed_.of_client(LockProtocol::kNfs4, client);
  for (const Key& key : keys)
    leave(key, outside(table_.held(key.first, key.second), unclaimed_.held(key.first, key.second)));
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
  wake_.notify_all();
  return recorded;
}

std::set<NlmClient> FileLocks::nlm_clients() const {
  std::set<NlmClient> clients;
  const MutexLock lock(mutex_);
  for (const auto& [client, keys] : nlm_clients_) clients.insert(client);
  return clients;
}

bool FileLocks::has_nlm_client(const std::string& address) const {
  const MutexLock lock(mutex_);
  const auto first = nlm_clients_.lower_bound({address, "", ""});
  if (first != nlm_clients_.end() && first->first.address == address) return true;
  return lives_.any_under_way(address) || owes(address);
}

bool FileLocks::has_outlived_locks(const LockOwner& owner, std::int32_t state) {
  const auto client =
      owner.protocol == LockProtocol::kNlm ? parse_nlm_client(owner.client) : std::nullopt;
  if (!client || state == 0) return false;
  const std::pair who(client->address, client->name);
  const MutexLock lock(mutex_);
  const auto known = without_former_.find(who);
  if (known != without_former_.end() && known->second == state) return false;
  for (const Key& key : table_.of_protocol(LockProtocol::kNlm)) {
    const auto holder = parse_nlm_client(key.second.client);
    if (holder && std::pair(holder->address, holder->name) == who &&
        is_former_life(kept(key).life.nsm_state, state))
      return true;
  }
  if (without_former_.size() >= kLivesRemembered) without_former_.clear();
  without_former_[who] = state;
  return false;
}

bool FileLocks::owes_unlocks_of(const std::string& address) const {
  const MutexLock lock(mutex_);
  return owes(address);
}

bool FileLocks::owes(const std::string& address) const {
  const auto its = [&](const Key& key) { return is_of_nlm_client(key, address); };
  return std::any_of(late_.begin(), late_.end(), its) ||
         std::any_of(writing_.begin(), writing_.end(), its);
}

FileLocks::Answer FileLocks::test(Ino ino, const LockOwner& owner, const LockRange& range) {
  const MutexLock order(order_mutex_);
  if (auto conflict = standing_conflict(ino, owner, range))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  const auto stay = enter();
  // A failure means that the mount is over: then this answer is not reported.
  if (stay && !stay->sole()) static_cast<void>(look(ino));
  if (auto conflict = foreign_conflict(ino, range, stay ? &*stay : nullptr))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  return Answer{.granted = true, .conflict = {}};
}

std::size_t FileLocks::size() const {
  const MutexLock lock(mutex_);
  return table_.size();
}

}  // namespace symnas::fs
