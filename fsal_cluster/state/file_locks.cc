#include "fsal_cluster/state/file_locks.h"

#include <chrono>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {
namespace {

// One key per inode and owner: the owner's identity is part of the key.
std::string lock_key(FsId fs, Ino ino, const LockOwner& owner) {
  std::string identity;
  identity.push_back(owner.protocol == LockProtocol::kNlm ? 'n' : '4');
  append_be32(identity, static_cast<std::uint32_t>(owner.client.size()));
  identity += owner.client + owner.owner;
  std::string key = kv::keys::locks(fs);
  append_be64(key, ino.value());
  return key + identity;
}

records::LockRecord to_record(Ino ino, const std::string& vnfs, const LockOwner& owner,
                              const std::vector<LockRange>& ranges) {
  records::LockRecord record;
  record.set_ino(ino.value());
  record.set_vnfs(vnfs);
  record.set_protocol(owner.protocol == LockProtocol::kNlm ? records::LockRecord::NLM
                                                           : records::LockRecord::NFS4);
  record.set_client(owner.client);
  record.set_owner(owner.owner);
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

}  // namespace

FileLocks::FileLocks(kv::Session& session, const env::Clock& clock, FsId fs, std::string vnfs)
    : session_(session),
      clock_(clock),
      fs_(fs),
      vnfs_(std::move(vnfs)),
      loaded_ns_(clock.mono_ns()) {}

Result<std::unique_ptr<FileLocks>> FileLocks::load(kv::Session& session, const env::Clock& clock,
                                                   FsId fs, std::string vnfs) {
  std::unique_ptr<FileLocks> locks(new FileLocks(session, clock, fs, std::move(vnfs)));
  SYMNAS_ASSIGN(const kv::OpResult found, session.range(kv::prefix_range(kv::keys::locks(fs)), 0));
  for (const kv::KeyValue& kv : found.kvs) {
    records::LockRecord record;
    if (!record.ParseFromString(kv.value))
      return fail(ErrorCode::kCorrupt,
                  "lock record " + to_hex(kv.key) + " cannot be parsed; run symnas fs check");
    const Key key{Ino{record.ino()}, owner_of(record)};
    locks->table_.set(key.first, key.second, ranges_of(record));
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
    SYMNAS_TRY(write(key, {}));
    const std::scoped_lock lock(mutex_);
    table_.set(key.first, key.second, {});
    unclaimed_.erase(key);
  }
  return {};
}

Result<Revision> FileLocks::stored_revision(const std::string& store_key) {
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(kv::single_key(store_key), 1));
  return found.kvs.empty() ? Revision{} : found.kvs.front().mod_revision;
}

Status FileLocks::write(const Key& key, const std::vector<LockRange>& ranges) {
  const std::string store_key = lock_key(fs_, key.first, key.second);
  const auto known = mod_revision_.find(key);
  if (known == mod_revision_.end() && ranges.empty()) return {};
  kv::Mutation mutation;
  mutation.growth = ranges.empty() ? kv::Growth::kMustGo : kv::Growth::kChanges;
  mutation.compares.push_back(
      kv::mod_revision_is(store_key, known == mod_revision_.end() ? Revision{} : known->second));
  mutation.writes.push_back(
      ranges.empty()
          ? kv::erase(store_key)
          : kv::put(store_key,
                    to_record(key.first, vnfs_, key.second, ranges).SerializeAsString()));
  SYMNAS_ASSIGN(const kv::Committed committed, session_.commit_blocking(std::move(mutation)));
  if (!committed.succeeded) {
    SYMNAS_ASSIGN(mod_revision_[key], stored_revision(store_key));
    return fail(ErrorCode::kConflict,
                "a lock record was changed by somebody else while this mount is the only one");
  }
  if (ranges.empty())
    mod_revision_.erase(key);
  else
    mod_revision_[key] = committed.revision;
  return {};
}

Status FileLocks::write_late(const Key& key) {
  std::vector<LockRange> ranges;
  {
    const std::scoped_lock lock(mutex_);
    if (late_.erase(key) == 0) return {};
    ranges = table_.held(key.first, key.second);
  }
  Status written = write(key, ranges);
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
                                          bool is_reclaim) {
  const std::scoped_lock order(order_mutex_);
  const Key key{ino, owner};
  {
    const std::scoped_lock lock(mutex_);
    if (covers(table_.held(ino, owner), range)) {
      unclaimed_.erase(key);
      return Answer{.granted = true, .conflict = {}};
    }
  }
  if (is_reclaim) return Answer{};
  if (auto conflict = standing_conflict(ino, owner, range))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  SYMNAS_TRY(write_late_of(ino));
  std::vector<LockRange> ranges;
  {
    const std::scoped_lock lock(mutex_);
    ranges = with_range(table_.held(ino, owner), range);
  }
  SYMNAS_TRY(write(key, ranges));
  const std::scoped_lock lock(mutex_);
  // Not `ranges`: the owner may have unlocked something meanwhile.
  table_.set(ino, owner, with_range(table_.held(ino, owner), range));
  unclaimed_.erase(key);
  return Answer{.granted = true, .conflict = {}};
}

Status FileLocks::unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end,
                         Record when) {
  const Key key{ino, owner};
  {
    const std::scoped_lock lock(mutex_);
    const std::vector<LockRange>& held = table_.held(ino, owner);
    std::vector<LockRange> left = without_range(held, start, end);
    if (left == held) return {};
    if (left.empty()) unclaimed_.erase(key);
    table_.set(ino, owner, std::move(left));
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

FileLocks::Answer FileLocks::test(Ino ino, const LockOwner& owner, const LockRange& range) {
  const std::scoped_lock order(order_mutex_);
  if (auto conflict = standing_conflict(ino, owner, range))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  return Answer{.granted = true, .conflict = {}};
}

std::size_t FileLocks::size() const {
  const std::scoped_lock lock(mutex_);
  return table_.size();
}

}  // namespace symnas::fs
