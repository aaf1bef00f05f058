// How locks are recorded (docs/formats/keys.md, `uL` and `wX`). Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/foreign_locks.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

// Prefix of all lock records of an inode.
std::string locks_of(FsId fs, Ino ino);
// One key per inode, VNFS and owner: one client may lock a file through two VNFSs.
std::string lock_key(FsId fs, Ino ino, const std::string& vnfs, const LockOwner& owner);
// Parts of a lock's key. nullopt: it is no lock's key.
struct LockHolder {
  Ino ino;
  std::string vnfs;
  LockOwner owner;
};
std::optional<LockHolder> parse_lock_key(FsId fs, const std::string& key);
// The key of an order about the record `lock_key`; and the lock's key from the order's key.
// nullopt: `order_key` is no such key.
std::string lock_order_key(FsId fs, const std::string& lock_key);
std::optional<std::string> ordered_lock_key(FsId fs, const std::string& order_key);

struct RecordedLock {
  std::vector<LockRange> ranges;
  ClientLife life;
  std::int64_t since_ns = 0;  // wall clock; 0: not known
  bool guessed = false;       // parse_locks(): some of it may not be held
};
records::LockRecord to_record(Ino ino, const std::string& vnfs, const LockOwner& owner,
                              const RecordedLock& lock);
LockOwner owner_of(const records::LockRecord& record);
RecordedLock lock_of(const records::LockRecord& record);
// Errors: kCorrupt.
Result<records::LockRecord> parse_lock(const kv::KeyValue& kv);
// What these keys record, in their order; all of an inode's together. A record that cannot be
// parsed still has its owner in its key: he counts as holding all of the file that no record of
// another owner holds (shared where others share), in a life that was not told, until he has
// unlocked all of it or the lock is cleared. So nothing of his is given away (INV-7). Such guesses
// of several owners overlap: none is granted by them, but each owner reclaims what he held. Errors:
// kCorrupt (neither record nor key can be parsed).
struct ParsedLock {
  records::LockRecord record;
  bool readable = true;
};
Result<std::vector<ParsedLock>> parse_locks(FsId fs, const std::vector<kv::KeyValue>& kvs);
ForeignLock foreign_lock(const kv::KeyValue& kv, const records::LockRecord& record);

}  // namespace symnas::fs
