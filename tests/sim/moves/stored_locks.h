// StoredLocks: no two lock records of a file conflict, at any revision of the store. Independent of
// the code that writes them: it reads the keys (docs/formats/keys.md, `uL`).
//
// Thread class: for one simulation; never blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/schema/records.pb.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

class StoredLocks {
 public:
  // Of the filesystem, from now on. A conflict ends the run.
  StoredLocks(const std::shared_ptr<kv::MemServer>& server, FsId fs);

 private:
  void take(const std::vector<kv::WatchEvent>& events);
  void check(std::uint64_t ino, const std::string& key) const;

  const std::string table_;
  std::map<std::uint64_t, std::map<std::string, fs::records::LockRecord>> stored_;  // by inode, key
  Observer observer_;
};

}  // namespace symnas::sim
