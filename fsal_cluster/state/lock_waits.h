// LockWaits: who waits for a lock of one VNFS, as it is recorded (docs/formats/keys.md, `wQ`), so
// that the next instance of the VNFS knows it. Pure: FileLocks reads and writes the records.
//
// A record means that its owner may wait. It may also have got the lock already, or have given up,
// just before an instance ended. So whoever acts on a record lets the client say which it is.
//
// Thread class: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

struct LockWait {
  Ino ino;
  Generation generation;
  LockOwner owner;
  LockRange range;
  std::int32_t nsm_state = 0;   // NLM: the client's life in which it waits
  std::uint16_t export_id = 0;  // by which it asked
  friend bool operator==(const LockWait&, const LockWait&) = default;
};

std::string lock_wait_key(FsId fs, const std::string& vnfs, const LockWait& wait);
std::string to_wait_record(const std::string& vnfs, const LockWait& wait);
// nullopt: the record is of another VNFS. Errors: kCorrupt.
Result<std::optional<LockWait>> parse_wait(const kv::KeyValue& kv, const std::string& vnfs);

class LockWaits {
 public:
  // A record of an earlier instance; `created`: when it was made, which orders the waits.
  void load(const std::string& key, LockWait wait, Revision created);
  // The waits of earlier instances that have neither begun again nor ended, oldest first.
  std::vector<LockWait> left() const;
  bool any_left() const { return !left_.empty(); }
  bool is_left(const std::string& key) const { return left_.contains(key); }
  // The keys of what is left of NLM clients at `address` in an earlier life than `but_state`
  // (nullopt: in any).
  std::vector<std::string> left_of_nlm(const std::string& address,
                                       std::optional<std::int32_t> but_state) const;

  // The wait is recorded from now on. True: its record has to be put: there is none, or one of
  // another life of the client, which would be granted the lock in that life. False: it is there.
  bool begin(const std::string& key, const LockWait& wait);
  // The record was put at that revision; or it could not be put: what is there is to be erased.
  void recorded(const std::string& key, Revision revision);
  void not_recorded(const std::string& key) { ended_.insert(key); }
  // Since when the wait is recorded; nullopt: it is not.
  std::optional<Revision> since(const std::string& key) const;
  // Since when the longest wait on that inode is recorded; nullopt: there is none.
  std::optional<Revision> oldest_on(Ino ino) const;
  // The wait has ended: its record is to be erased.
  void end(const std::string& key);

  // Its owner unlocks start to end: it does not wait any more for what is left within that.
  void end_left_within(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end);

  bool any_ended() const { return !ended_.empty(); }
  // Whether an ended wait of that owner is still recorded: the next instance would take it up.
  bool owes(Ino ino, const LockOwner& owner) const;
  // At most `count` keys of records that are to be erased, and the inodes that they are of.
  std::vector<std::pair<std::string, Ino>> ended(std::size_t count) const;
  // Whether the record is (still) to be erased.
  bool is_ended(const std::string& key) const { return ended_.contains(key); }
  void erased(const std::string& key);

 private:
  struct Left {
    LockWait wait;
    Revision created;
  };
  std::map<std::string, Left> left_;
  struct Recorded {
    LockWait wait;
    Revision created;  // 0: it is being put
  };
  std::map<std::string, Recorded> recorded_;  // every record in the store, ended ones included
  std::set<std::string> ended_;
};

}  // namespace symnas::fs
