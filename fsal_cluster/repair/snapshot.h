// Snapshot: the records of a filesystem at one revision of the store. Thread class:
// thread-compatible; reads block. Keys that were read are kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"

namespace symnas::fs::repair {

class Snapshot {
 public:
  Snapshot(kv::Store& store, Revision revision) : store_(store), revision_(revision) {}

  Revision revision() const { return revision_; }
  // nullopt: the key was absent. Errors: kCompacted (the revision is gone), kUnavailable.
  Result<std::optional<kv::KeyValue>> get(const std::string& key);
  // At most `limit` keys, ascending. Errors: as get().
  Result<std::vector<kv::KeyValue>> range(const kv::KeyRange& range, std::int64_t limit);

 private:
  kv::Store& store_;
  const Revision revision_;
  std::map<std::string, std::optional<kv::KeyValue>> read_;
};

}  // namespace symnas::fs::repair
