#include "fsal_cluster/state/file_locks.h"

#include <algorithm>
#include <chrono>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/limits.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/lock_record.h"

namespace symnas::fs {

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
    locks->hold(key, std::move(lock.ranges));
    locks->kept_[key] = {std::move(lock.life), lock.since_ns};
    locks->mod_revision_[key] = kv.mod_revision;
    locks->unclaimed_.insert(key);
  }
  locks->thread_ = std::thread([raw = locks.get()] { raw->run(); });
  return locks;
}

FileLocks::~FileLocks() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::int64_t FileLocks::serving_since_ns() const {
  return gate_ == nullptr ? loaded_ns_ : std::max(loaded_ns_, gate_->open_since_ns());
}

bool FileLocks::revocable(const Key& key) const {
  return key.second.protocol == LockProtocol::kNfs4 && unclaimed_.contains(key) &&
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
  if (!holds) {
    unclaimed_.erase(key);
    kept_.erase(key);
  }
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

std::optional<LockConflict> FileLocks::standing_conflict(Ino ino, const LockOwner& owner,
                                                         const LockRange& range) {
  for (;;) {
    std::optional<LockConflict> conflict;
    {
      const std::scoped_lock lock(mutex_);
      conflict = table_.conflict(ino, owner, range);
      if (!conflict || !revocable({ino, conflict->holder})) return conflict;
    }
    if (!revoke_client(conflict->holder)) return conflict;
  }
}

// A client that did not come back for two leases loses everything it left behind, at once (courtesy
// ends for the whole client: half of its locks would be worth nothing to it).
Status FileLocks::revoke_client(const LockOwner& holder) {
  log::warn("locks of client {} are revoked: it has not returned for {} s", to_hex(holder.client),
            unclaimed_ns_ / 1'000'000'000);
  std::vector<Key> keys;
  {
    const std::scoped_lock lock(mutex_);
    for (const Key& key : table_.of_client(holder.protocol, holder.client))
      if (unclaimed_.contains(key)) keys.push_back(key);
  }
  for (const Key& key : keys) {
    SYMNAS_TRY(write(key, {}));
    const std::scoped_lock lock(mutex_);
    hold(key, {});
  }
  return {};
}

Status FileLocks::revoke_if_away(Ino ino, const LockOwner& owner) {
  const std::scoped_lock order(order_mutex_);
  {
    const std::scoped_lock lock(mutex_);
    if (!revocable({ino, owner})) return {};
  }
  return revoke_client(owner);
}

bool FileLocks::is_recorded_as(Ino ino, const LockOwner& owner, Revision revision) {
  const std::scoped_lock order(order_mutex_);
  const auto known = mod_revision_.find({ino, owner});
  return known != mod_revision_.end() && known->second == revision;
}

std::optional<Membership::Stay> FileLocks::enter() const {
  if (membership_ == nullptr) return std::nullopt;
  return membership_->enter();
}

Result<kv::Compare> FileLocks::look(Ino ino) {
  const kv::KeyRange range = kv::prefix_range(locks_of(fs_, ino));
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(range, 0));
  std::vector<ForeignLock> foreign;
  std::int64_t newest = 0;
  for (const kv::KeyValue& kv : found.kvs) {
    newest = std::max(newest, kv.mod_revision.value());
    SYMNAS_ASSIGN(const records::LockRecord record, parse_lock(kv));
    if (record.vnfs() != vnfs_) foreign.push_back(foreign_lock(kv, record));
  }
  foreign_.set(ino, std::move(foreign));
  // Whatever is put later has a higher revision; what goes away only makes room.
  kv::Compare unchanged;
  unchanged.range = range;
  unchanged.target = kv::Compare::Target::kModRevision;
  unchanged.relation = kv::Compare::Relation::kLess;
  unchanged.number = newest + 1;
  return unchanged;
}

std::optional<LockConflict> FileLocks::foreign_conflict(Ino ino, const LockRange& range,
                                                        const Membership::Stay* stay) {
  const bool alone = stay == nullptr || stay->sole();
  // What a VNFS that nobody serves has left may have been cleared since it was loaded. Without an
  // answer it stands.
  if (alone && foreign_.conflict(ino, range)) static_cast<void>(look(ino));
  for (;;) {
    const auto conflict = foreign_.conflict(ino, range);
    if (!conflict) return std::nullopt;
    const LockConflict answer{conflict->lock.owner, conflict->range};
    if (!alone) ask_for(conflict->lock);
    const std::int64_t since_ns = std::max(alone_since_ns_, serving_since_ns());
    if (!alone || answer.holder.protocol != LockProtocol::kNfs4 ||
        clock_.mono_ns() - since_ns <= unclaimed_ns_)
      return answer;
    log::warn("locks of client {} of {} are revoked: no mount has served it for {} s",
              to_hex(answer.holder.client), conflict->lock.vnfs, unclaimed_ns_ / 1'000'000'000);
    for (const ForeignLock& lock :
         foreign_.take_client(conflict->lock.vnfs, answer.holder.protocol, answer.holder.client)) {
      kv::Mutation mutation;
      mutation.growth = kv::Growth::kMustGo;
      mutation.compares = {kv::mod_revision_is(lock.store_key, lock.revision)};
      mutation.writes = {kv::erase(lock.store_key)};
      const auto erased = session_.commit_blocking(std::move(mutation));
      if (!erased) return answer;
    }
  }
}

// Only its own instance knows whether a client is away.
void FileLocks::ask_for(const ForeignLock& lock) {
  if (lock.owner.protocol != LockProtocol::kNfs4) return;
  const std::int64_t now_ns = clock_.mono_ns();
  std::erase_if(asked_ns_, [&](const auto& asked) { return now_ns - asked.second > kAskAgainNs; });
  if (!asked_ns_.try_emplace(lock.store_key, now_ns).second) return;
  records::LockOrder order;
  order.set_kind(records::LockOrder::CONFLICT);
  order.set_lock_revision(lock.revision.value());
  order.set_ordered_ns(clock_.wall_ns());
  order.set_by(vnfs_);
  const std::string key = lock_order_key(fs_, lock.store_key);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.compares = {kv::mod_revision_is(lock.store_key, lock.revision), kv::key_absent(key)};
  mutation.writes = {kv::put(key, order.SerializeAsString())};
  const auto asked = session_.commit_blocking(std::move(mutation));
  if (!asked) log::info("a lock of {} cannot be asked for: {}", lock.vnfs, asked.error().message);
}

Status FileLocks::turning_sole() {
  const std::scoped_lock order(order_mutex_);
  SYMNAS_ASSIGN(const kv::OpResult found,
                session_.range(kv::prefix_range(kv::keys::locks(fs_)), 0));
  foreign_.clear();
  for (const kv::KeyValue& kv : found.kvs) {
    SYMNAS_ASSIGN(const records::LockRecord record, parse_lock(kv));
    if (record.vnfs() != vnfs_) foreign_.add(Ino{record.ino()}, foreign_lock(kv, record));
  }
  alone_since_ns_ = clock_.mono_ns();
  return {};
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

Status FileLocks::write_late(const Key& key) {
  RecordedLock now;
  {
    const std::scoped_lock lock(mutex_);
    if (late_.erase(key) == 0) return {};
    Kept known = kept(key);
    now = {table_.held(key.first, key.second), std::move(known.life), known.since_ns};
  }
  Status written = write(key, now);
  if (written) return written;
  const std::scoped_lock lock(mutex_);
  late_.insert(key);
  return written;
}

Status FileLocks::write_late_of(Ino ino) {
  for (;;) {
    Key key;
    {
      const std::scoped_lock lock(mutex_);
      const auto first = late_.lower_bound({ino, LockOwner{}});
      if (first == late_.end() || first->first != ino) return {};
      key = *first;
    }
    SYMNAS_TRY(write_late(key));
  }
}

Status FileLocks::record_unlocks() {
  std::set<Key> keys;
  {
    const std::scoped_lock lock(mutex_);
    keys = late_;
  }
  const std::scoped_lock order(order_mutex_);
  for (const Key& key : keys) SYMNAS_TRY(write_late(key));
  return {};
}

void FileLocks::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait(lock, [this] { return stop_ || !late_.empty(); });
    if (stop_) return;
    lock.unlock();
    const Status recorded = record_unlocks();
    lock.lock();
    if (recorded) continue;
    log::warn("an unlock is not recorded yet: {}", recorded.error().message);
    wake_.wait_for(lock, std::chrono::milliseconds(kLateUnlockRetryMs), [this] { return stop_; });
  }
}

Result<FileLocks::Answer> FileLocks::lock(Ino ino, const LockOwner& owner, const LockRange& range,
                                          bool is_reclaim, const ClientLife& life) {
  const std::scoped_lock order(order_mutex_);
  const Key key{ino, owner};
  {
    const std::scoped_lock lock(mutex_);
    const ClientLife known = kept(key).life;
    const std::vector<LockRange>& held = table_.held(ino, owner);
    // What was sent before the client's reboot and comes after it locks nothing. Nor does a client
    // that counts its lives anew: its old locks have to be cleared first.
    if (!is_reclaim && is_former_life(life.nsm_state, known.nsm_state))
      return Answer{.granted = false, .conflict = {owner, held.front()}};
    // What a former life left is no lock of this one: that is recorded anew.
    const bool known_life = is_reclaim
                                ? !is_another_life({0, known.verifier}, {0, life.verifier})
                                : (life.nsm_state == 0 || life.nsm_state == known.nsm_state) &&
                                      !is_another_life(known, life);
    if (is_reclaim && !known_life) return Answer{};
    const bool attaches = is_reclaim ? covers_at_least(held, range) : covers(held, range);
    if (known_life && attaches) {
      unclaimed_.erase(key);
      return Answer{.granted = true, .conflict = {}};
    }
    // Recorded weaker than it is reclaimed: the answer to the change did not reach the owner. It
    // has held the range all the time, and gets it back unless somebody else is in its way now.
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
    const std::scoped_lock lock(mutex_);
    after = kept_after(key, life);
    wanted = {with_range(held_in(key, life), range), after.life, after.since_ns};
  }
  SYMNAS_TRY(write(key, wanted, std::move(unchanged)));
  const std::scoped_lock lock(mutex_);
  // Not what was written: the owner may have unlocked something meanwhile.
  hold(key, with_range(held_in(key, life), range));
  unclaimed_.erase(key);
  kept_[key] = std::move(after);
  return std::optional<LockConflict>();
}

Status FileLocks::unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end,
                         Record when) {
  const Key key{ino, owner};
  {
    const std::scoped_lock lock(mutex_);
    const std::vector<LockRange>& held = table_.held(ino, owner);
    std::vector<LockRange> left = without_range(held, start, end);
    if (left == held) return {};
    hold(key, std::move(left));
    late_.insert(key);
  }
  Status recorded;
  if (when == Record::kNow) {
    const std::scoped_lock order(order_mutex_);
    recorded = write_late(key);
  }
  wake_.notify_all();
  return recorded;
}

Status FileLocks::forget_nlm_client(const std::string& address,
                                    std::optional<std::int32_t> but_state) {
  std::vector<Key> keys;
  {
    const std::scoped_lock lock(mutex_);
    for (Key& key : table_.of_protocol(LockProtocol::kNlm)) {
      const auto client = parse_nlm_client(key.second.client);
      if (!client || client->address != address) continue;
      const std::int32_t locked_in = kept(key).life.nsm_state;
      if (but_state && locked_in != 0 && !is_former_life(locked_in, *but_state)) continue;
      hold(key, {});
      late_.insert(key);
      keys.push_back(std::move(key));
    }
  }
  if (keys.empty()) return {};
  log::info("NLM client {}: has lost its locks: they are released on {} files", address,
            keys.size());
  return write_all(keys);
}

Status FileLocks::forget_former_lives(const std::string& client, const std::string& verifier) {
  std::vector<Key> keys;
  {
    const std::scoped_lock lock(mutex_);
    for (Key& key : table_.of_client(LockProtocol::kNfs4, client)) {
      if (!unclaimed_.contains(key) || !is_another_life(kept(key).life, {0, verifier})) continue;
      hold(key, {});
      late_.insert(key);
      keys.push_back(std::move(key));
    }
  }
  if (keys.empty()) return {};
  log::info(
      "client {}: is back in a new life: its locks of the former one are released on {} files",
      to_hex(client), keys.size());
  return write_all(keys);
}

Status FileLocks::write_all(const std::vector<Key>& keys) {
  Status recorded;
  {
    const std::scoped_lock order(order_mutex_);
    for (const Key& key : keys) {
      Status written = write_late(key);
      if (!written) recorded = std::move(written);
    }
  }
  wake_.notify_all();
  return recorded;
}

std::set<NlmClient> FileLocks::nlm_clients() const {
  std::set<NlmClient> clients;
  const std::scoped_lock lock(mutex_);
  for (const auto& [client, keys] : nlm_clients_) clients.insert(client);
  return clients;
}

bool FileLocks::has_nlm_client(const std::string& address) const {
  const std::scoped_lock lock(mutex_);
  const auto first = nlm_clients_.lower_bound({address, "", ""});
  return first != nlm_clients_.end() && first->first.address == address;
}

FileLocks::Answer FileLocks::test(Ino ino, const LockOwner& owner, const LockRange& range) {
  const std::scoped_lock order(order_mutex_);
  if (auto conflict = standing_conflict(ino, owner, range))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  const auto stay = enter();
  // A failure means that the mount is over: its answer is not told.
  if (stay && !stay->sole()) static_cast<void>(look(ino));
  if (auto conflict = foreign_conflict(ino, range, stay ? &*stay : nullptr))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  return Answer{.granted = true, .conflict = {}};
}

std::size_t FileLocks::size() const {
  const std::scoped_lock lock(mutex_);
  return table_.size();
}

}  // namespace symnas::fs
