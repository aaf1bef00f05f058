// The mounts of a filesystem as its keys tell them: who is alive, who has ended. Thread-safe: pure
// functions but for list_mounts, which blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

struct MountEntry {
  MountId id;
  records::MountRecord record;
  Revision create_revision;
  std::optional<records::EndRecord> ended;

  bool alive() const { return !ended.has_value(); }
};

// `read` is the answer of a range read of mounts(fs), complete. Errors: kCorrupt.
Result<std::vector<MountEntry>> parse_mounts(FsId fs, const kv::OpResult& read);
// Ascending by id. Errors: kUnavailable, kCorrupt.
Result<std::vector<MountEntry>> list_mounts(kv::Store& store, FsId fs);
// For messages: "vnfs1 on head c1n1 (mount 12, epoch 17)".
std::string describe(const MountEntry& mount);
// The first mount that has not ended, or nullptr.
const MountEntry* first_alive(const std::vector<MountEntry>& mounts);

}  // namespace symnas::fs
