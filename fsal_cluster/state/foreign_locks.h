// ForeignLocks: what owners of other VNFSs have recorded on inodes of this filesystem. Other mounts
// change these records: what is known here is as old as the last look. Pure.
//
// Thread class: thread-compatible.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

struct ForeignLock {
  std::string store_key;
  Revision revision;  // of the record
  std::string vnfs;
  LockOwner owner;
  std::vector<LockRange> ranges;
};

class ForeignLocks {
 public:
  // Replaces what was known of the inode.
  void set(Ino ino, std::vector<ForeignLock> locks);
  void add(Ino ino, ForeignLock lock);
  void clear() { locks_.clear(); }
  // A lock that `range` conflicts with, and where; nullopt: none. Owners of another VNFS are always
  // other owners, even if the ids are equal.
  struct Conflict {
    ForeignLock lock;
    LockRange range;
  };
  std::optional<Conflict> conflict(Ino ino, const LockRange& range) const;
  // Forgets everything that one client of one VNFS had recorded.
  void forget_client(const std::string& vnfs, LockProtocol protocol, const std::string& client);

 private:
  std::map<Ino, std::vector<ForeignLock>> locks_;
};

}  // namespace symnas::fs
