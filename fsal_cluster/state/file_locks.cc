#include "fsal_cluster/state/file_locks.h"

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
  return locks;
}

bool FileLocks::revocable(const Key& key) const {
  return key.second.protocol == LockProtocol::kNfs4 && unclaimed_.contains(key) &&
         clock_.mono_ns() - loaded_ns_ > kUnclaimedNfs4LockNs;
}

std::optional<LockConflict> FileLocks::standing_conflict(Ino ino, const LockOwner& owner,
                                                         const LockRange& range) {
  for (;;) {
    auto conflict = table_.conflict(ino, owner, range);
    if (!conflict || !revocable({ino, conflict->holder})) return conflict;
    if (!revoke_client(conflict->holder)) return conflict;
  }
}

// A client that did not come back for two leases loses everything it left behind, at once (courtesy
// ends for the whole client: half of its locks would be worth nothing to it).
Status FileLocks::revoke_client(const LockOwner& holder) {
  log::warn("locks of client {} are revoked: it has not returned for {} s", to_hex(holder.client),
            kUnclaimedNfs4LockNs / 1'000'000'000);
  for (const Key& key : table_.of_client(holder.protocol, holder.client)) {
    if (!unclaimed_.contains(key)) continue;
    SYMNAS_TRY(persist(key, {}));
  }
  return {};
}

Status FileLocks::persist(const Key& key, const std::vector<LockRange>& ranges) {
  const std::string store_key = lock_key(fs_, key.first, key.second);
  const auto known = mod_revision_.find(key);
  kv::Mutation mutation;
  mutation.compares.push_back(
      kv::mod_revision_is(store_key, known == mod_revision_.end() ? Revision{} : known->second));
  mutation.writes.push_back(
      ranges.empty()
          ? kv::erase(store_key)
          : kv::put(store_key,
                    to_record(key.first, vnfs_, key.second, ranges).SerializeAsString()));
  SYMNAS_ASSIGN(const kv::Committed committed, session_.commit_blocking(std::move(mutation)));
  if (!committed.succeeded)
    return fail(ErrorCode::kInternal,
                "a lock record was changed by somebody else while this mount is the only one");
  table_.set(key.first, key.second, ranges);
  if (ranges.empty()) {
    mod_revision_.erase(key);
    unclaimed_.erase(key);
  } else {
    mod_revision_[key] = committed.revision;
  }
  return {};
}

Result<FileLocks::Answer> FileLocks::lock(Ino ino, const LockOwner& owner, const LockRange& range,
                                          bool is_reclaim) {
  const std::scoped_lock lock(mutex_);
  const Key key{ino, owner};
  if (covers(table_.held(ino, owner), range)) {
    unclaimed_.erase(key);
    return Answer{.granted = true, .conflict = {}};
  }
  if (is_reclaim) return Answer{};
  if (auto conflict = standing_conflict(ino, owner, range))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  SYMNAS_TRY(persist(key, with_range(table_.held(ino, owner), range)));
  unclaimed_.erase(key);
  return Answer{.granted = true, .conflict = {}};
}

Status FileLocks::unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end) {
  const std::scoped_lock lock(mutex_);
  const std::vector<LockRange>& held = table_.held(ino, owner);
  std::vector<LockRange> left = without_range(held, start, end);
  if (left == held) return {};
  return persist({ino, owner}, left);
}

FileLocks::Answer FileLocks::test(Ino ino, const LockOwner& owner, const LockRange& range) {
  const std::scoped_lock lock(mutex_);
  if (auto conflict = standing_conflict(ino, owner, range))
    return Answer{.granted = false, .conflict = std::move(*conflict)};
  return Answer{.granted = true, .conflict = {}};
}

std::size_t FileLocks::size() const {
  const std::scoped_lock lock(mutex_);
  return table_.size();
}

}  // namespace symnas::fs
