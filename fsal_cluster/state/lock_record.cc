#include "fsal_cluster/state/lock_record.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/kv/keys.h"

namespace symnas::fs {
namespace {

// A guess of more ranges is one of the whole file: it is written again with each unlock.
constexpr std::size_t kGuessedRangesMax = 1'000;

void append_counted(std::string& out, const std::string& bytes) {
  append_be32(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
}

// All that is compatible with what these records say of the inode, guesses left out.
std::vector<LockRange> left_by(const std::vector<ParsedLock>& locks, Ino ino) {
  std::vector<LockRange> others;
  for (const ParsedLock& other : locks) {
    if (!other.readable || other.record.guessed() || other.record.ino() != ino.value()) continue;
    for (const LockRange& range : lock_of(other.record).ranges) others.push_back(range);
  }
  std::vector<LockRange> out = compatible_with(std::move(others));
  if (out.size() > kGuessedRangesMax) return {kWholeFile};
  return out;
}

}  // namespace

std::string locks_of(FsId fs, Ino ino) {
  std::string key = kv::keys::locks(fs);
  append_be64(key, ino.value());
  return key;
}

std::string lock_key(FsId fs, Ino ino, const std::string& vnfs, const LockOwner& owner) {
  std::string key = locks_of(fs, ino);
  key.push_back(owner.protocol == LockProtocol::kNlm ? 'n' : '4');
  append_counted(key, vnfs);
  append_counted(key, owner.client);
  return key + owner.owner;
}

std::optional<LockHolder> parse_lock_key(FsId fs, const std::string& key) {
  constexpr std::size_t kFixedBytes = 8 + 1;
  const std::string table = kv::keys::locks(fs);
  if (!key.starts_with(table) || key.size() < table.size() + kFixedBytes) return std::nullopt;
  LockHolder out;
  out.ino = Ino{read_be64(key, table.size())};
  const char protocol = key[table.size() + 8];
  if (protocol != 'n' && protocol != '4') return std::nullopt;
  out.owner.protocol = protocol == 'n' ? LockProtocol::kNlm : LockProtocol::kNfs4;
  std::size_t at = table.size() + kFixedBytes;
  const auto counted = [&](std::string& bytes) {
    if (key.size() - at < 4 || key.size() - at - 4 < read_be32(key, at)) return false;
    bytes = key.substr(at + 4, read_be32(key, at));
    at += 4 + bytes.size();
    return true;
  };
  if (!counted(out.vnfs) || !counted(out.owner.client)) return std::nullopt;
  out.owner.owner = key.substr(at);
  return out;
}

std::string lock_order_key(FsId fs, const std::string& lock_key) {
  return kv::keys::lock_orders(fs) + lock_key.substr(kv::keys::locks(fs).size());
}

std::optional<std::string> ordered_lock_key(FsId fs, const std::string& order_key) {
  const std::string table = kv::keys::lock_orders(fs);
  if (!order_key.starts_with(table)) return std::nullopt;
  return kv::keys::locks(fs) + order_key.substr(table.size());
}

records::LockRecord to_record(Ino ino, const std::string& vnfs, const LockOwner& owner,
                              const RecordedLock& lock) {
  records::LockRecord record;
  record.set_ino(ino.value());
  record.set_vnfs(vnfs);
  record.set_protocol(owner.protocol == LockProtocol::kNlm ? records::LockRecord::NLM
                                                           : records::LockRecord::NFS4);
  record.set_client(owner.client);
  record.set_owner(owner.owner);
  record.set_nsm_state(lock.life.nsm_state);
  record.set_verifier(lock.life.verifier);
  record.set_since_ns(lock.since_ns);
  record.set_guessed(lock.guessed);
  for (const LockRange& range : lock.ranges) {
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

RecordedLock lock_of(const records::LockRecord& record) {
  RecordedLock lock;
  for (const auto& range : record.ranges())
    lock.ranges.push_back(
        {range.start(), range.end(), range.exclusive() ? LockMode::kExclusive : LockMode::kShared});
  lock.life = {record.nsm_state(), record.verifier()};
  lock.since_ns = record.since_ns();
  lock.guessed = record.guessed();
  return lock;
}

Result<records::LockRecord> parse_lock(const kv::KeyValue& kv) {
  records::LockRecord record;
  if (!record.ParseFromString(kv.value))
    return fail(ErrorCode::kCorrupt,
                "lock record " + to_hex(kv.key) + " cannot be parsed; run symnas fs check");
  return record;
}

Result<std::vector<ParsedLock>> parse_locks(FsId fs, const std::vector<kv::KeyValue>& kvs) {
  std::vector<ParsedLock> out;
  bool all_readable = true;
  for (const kv::KeyValue& kv : kvs) {
    auto record = parse_lock(kv);
    // Each byte string that is empty or cut off early can be parsed, too.
    const bool readable = record && record->ino() != 0 && !record->vnfs().empty();
    out.push_back({readable ? std::move(*record) : records::LockRecord(), readable});
    all_readable = all_readable && readable;
  }
  for (std::size_t i = 0; !all_readable && i < kvs.size(); ++i) {
    if (out[i].readable) continue;
    const auto key = parse_lock_key(fs, kvs[i].key);
    if (!key)
      return fail(ErrorCode::kCorrupt,
                  fmt::format("lock record {}: neither it nor its key can be parsed; run symnas fs "
                              "check",
                              to_hex(kvs[i].key)));
    const LockHolder& holder = *key;
    out[i].record = to_record(holder.ino, holder.vnfs, holder.owner,
                              RecordedLock{left_by(out, holder.ino), {}, 0, true});
  }
  return out;
}

ForeignLock foreign_lock(const kv::KeyValue& kv, const records::LockRecord& record) {
  return {kv.key, kv.mod_revision, record.vnfs(), owner_of(record), lock_of(record).ranges};
}

}  // namespace symnas::fs
