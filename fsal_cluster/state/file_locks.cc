#include "fsal_cluster/state/file_locks.h"

#include <algorithm>
#include <chrono>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/limits.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {
namespace {

std::string locks_of(FsId fs, Ino ino) {
  std::string key = kv::keys::locks(fs);
  append_be64(key, ino.value());
  return key;
}

void append_counted(std::string& out, const std::string& bytes) {
  append_be32(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
}

// One key per inode, VNFS and owner: one client may lock a file through two VNFSs.
std::string lock_key(FsId fs, Ino ino, const std::string& vnfs, const LockOwner& owner) {
  std::string key = locks_of(fs, ino);
  key.push_back(owner.protocol == LockProtocol::kNlm ? 'n' : '4');
  append_counted(key, vnfs);
  append_counted(key, owner.client);
  return key + owner.owner;
}

records::LockRecord to_record(Ino ino, const std::string& vnfs, const LockOwner& owner,
                              const std::vector<LockRange>& ranges, std::int32_t nsm_state) {
  records::LockRecord record;
  record.set_ino(ino.value());
  record.set_vnfs(vnfs);
  record.set_protocol(owner.protocol == LockProtocol::kNlm ? records::LockRecord::NLM
                                                           : records::LockRecord::NFS4);
  record.set_client(owner.client);
  record.set_owner(owner.owner);
  record.set_nsm_state(nsm_state);
  for (const LockRange& range : ranges) {
    auto* out = record.add_ranges();
    out->set_start(range.start);
    out->set_end(range.end);
    out->set_exclusive(range.mode == LockMode::kExclusive);
  }
  return record;
}

LockOwner owner_of(const records::LockRecord& record) {
  return {record.protocol() == records::LockRecord::NLM ? LockProtocol::kNlm : LockProtocol::kNfs4,
          record.client(), record.owner()};
}

std::vector<LockRange> ranges_of(const records::LockRecord& record) {
  std::vector<LockRange> ranges;
  for (const auto& range : record.ranges())
    ranges.push_back(
        {range.start(), range.end(), range.exclusive() ? LockMode::kExclusive : LockMode::kShared});
  return ranges;
}

Result<records::LockRecord> parse_lock(const kv::KeyValue& kv) {
  records::LockRecord record;
  if (!record.ParseFromString(kv.value))
    return fail(ErrorCode::kCorrupt,
                "lock record " + to_hex(kv.key) + " cannot be parsed; run symnas fs check");
  return record;
}

ForeignLock foreign_lock(const kv::KeyValue& kv, const records::LockRecord& record) {
  return {kv.key, kv.mod_revision, record.vnfs(), owner_of(record), ranges_of(record)};
}

}  // namespace

FileLocks::FileLocks(kv::Session& session, const env::Clock& clock, FsId fs, std::string vnfs,
                     Membership* membership)
    : session_(session),
      clock_(clock),
      fs_(fs),
      vnfs_(std::move(vnfs)),
      membership_(membership),
      loaded_ns_(clock.mono_ns()),
      alone_since_ns_(loaded_ns_) {}

Result<std::unique_ptr<FileLocks>> FileLocks::load(kv::Session& session, const env::Clock& clock,
                                                   FsId fs, std::string vnfs,
                                                   Membership* membership) {
  std::unique_ptr<FileLocks> locks(new FileLocks(session, clock, fs, std::move(vnfs), membership));
  SYMNAS_ASSIGN(const kv::OpResult found, session.range(kv::prefix_range(kv::keys::locks(fs)), 0));
  for (const kv::KeyValue& kv : found.kvs) {
    SYMNAS_ASSIGN(const records::LockRecord record, parse_lock(kv));
    if (record.vnfs() != locks->vnfs_) {
      locks->foreign_.add(Ino{record.ino()}, foreign_lock(kv, record));
      continue;
    }
    const Key key{Ino{record.ino()}, owner_of(record)};
    locks->hold(key, ranges_of(record));
    if (record.nsm_state() != 0) locks->nsm_state_[key] = record.nsm_state();
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

bool FileLocks::revocable(const Key& key) const {
  return key.second.protocol == LockProtocol::kNfs4 && unclaimed_.contains(key) &&
         clock_.mono_ns() - loaded_ns_ > kUnclaimedNfs4LockNs;
}

std::int32_t FileLocks::nsm_state_of(const Key& key) const {
  const auto told = nsm_state_.find(key);
  return told == nsm_state_.end() ? 0 : told->second;
}

void FileLocks::hold(const Key& key, std::vector<LockRange> ranges) {
  const bool held = !table_.held(key.first, key.second).empty();
  const bool holds = !ranges.empty();
  if (!holds) {
    unclaimed_.erase(key);
    nsm_state_.erase(key);
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
            kUnclaimedNfs4LockNs / 1'000'000'000);
  std::vector<Key> keys;
  {
    const std::scoped_lock lock(mutex_);
    for (const Key& key : table_.of_client(holder.protocol, holder.client))
      if (unclaimed_.contains(key)) keys.push_back(key);
  }
  for (const Key& key : keys) {
    SYMNAS_TRY(write(key, {}, 0));
    const std::scoped_lock lock(mutex_);
    hold(key, {});
  }
  return {};
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
  for (;;) {
    const auto conflict = foreign_.conflict(ino, range);
    if (!conflict) return std::nullopt;
    const LockConflict answer{conflict->lock.owner, conflict->range};
    const bool alone = stay == nullptr || stay->sole();
    if (!alone || answer.holder.protocol != LockProtocol::kNfs4 ||
        clock_.mono_ns() - alone_since_ns_ <= kUnclaimedNfs4LockNs)
      return answer;
    log::warn("locks of client {} of {} are revoked: no mount has served it for {} s",
              to_hex(answer.holder.client), conflict->lock.vnfs,
              kUnclaimedNfs4LockNs / 1'000'000'000);
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

Status FileLocks::write(const Key& key, const std::vector<LockRange>& ranges,
                        std::int32_t nsm_state, std::optional<kv::Compare> unchanged) {
  const std::string store_key = lock_key(fs_, key.first, vnfs_, key.second);
  const auto known = mod_revision_.find(key);
  if (known == mod_revision_.end() && ranges.empty()) return {};
  kv::Mutation mutation;
  mutation.growth = ranges.empty() ? kv::Growth::kMustGo : kv::Growth::kChanges;
  mutation.compares.push_back(
      kv::mod_revision_is(store_key, known == mod_revision_.end() ? Revision{} : known->second));
  if (unchanged) mutation.compares.push_back(std::move(*unchanged));
  mutation.writes.push_back(
      ranges.empty()
          ? kv::erase(store_key)
          : kv::put(
                store_key,
                to_record(key.first, vnfs_, key.second, ranges, nsm_state).SerializeAsString()));
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
  if (ranges.empty())
    mod_revision_.erase(key);
  else
    mod_revision_[key] = committed.revision;
  return {};
}

Status FileLocks::write_late(const Key& key) {
  std::vector<LockRange> ranges;
  std::int32_t nsm_state = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (late_.erase(key) == 0) return {};
    ranges = table_.held(key.first, key.second);
    nsm_state = nsm_state_of(key);
  }
  Status written = write(key, ranges, nsm_state);
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
                                          bool is_reclaim, std::int32_t nsm_state) {
  const std::scoped_lock order(order_mutex_);
  const Key key{ino, owner};
  {
    const std::scoped_lock lock(mutex_);
    // A client that lives anew, and locks what its former life left: recorded as the new one's.
    const bool known_life = is_reclaim || nsm_state == 0 || nsm_state == nsm_state_of(key);
    const std::vector<LockRange>& held = table_.held(ino, owner);
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
    auto tried = try_lock(key, range, nsm_state);
    if (!tried && tried.error().code == ErrorCode::kConflict) continue;
    if (!tried) return tl::unexpected<Error>(std::move(tried.error()));
    if (*tried) return Answer{.granted = false, .conflict = std::move(**tried)};
    const std::scoped_lock lock(mutex_);
    // Not what was written: the owner may have unlocked something meanwhile.
    hold(key, with_range(table_.held(ino, owner), range));
    unclaimed_.erase(key);
    if (nsm_state != 0) nsm_state_[key] = nsm_state;
    return Answer{.granted = true, .conflict = {}};
  }
  return fail(ErrorCode::kConflict, "others kept locking the same file; try again later");
}

Result<std::optional<LockConflict>> FileLocks::try_lock(const Key& key, const LockRange& range,
                                                        std::int32_t nsm_state) {
  const auto stay = enter();
  std::optional<kv::Compare> unchanged;
  if (stay && !stay->sole()) {
    SYMNAS_ASSIGN(unchanged, look(key.first));
  }
  if (auto conflict = foreign_conflict(key.first, range, stay ? &*stay : nullptr)) return conflict;
  std::vector<LockRange> ranges;
  {
    const std::scoped_lock lock(mutex_);
    ranges = with_range(table_.held(key.first, key.second), range);
    if (nsm_state == 0) nsm_state = nsm_state_of(key);
  }
  SYMNAS_TRY(write(key, ranges, nsm_state, std::move(unchanged)));
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
      if (but_state && nsm_state_of(key) == *but_state) continue;
      hold(key, {});
      late_.insert(key);
      keys.push_back(std::move(key));
    }
  }
  if (keys.empty()) return {};
  log::info("NLM client {}: has lost its locks: they are released on {} files", address,
            keys.size());
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
