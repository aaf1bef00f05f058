// The mounts of a filesystem as its keys show them: which are alive, which have ended. Thread-safe:
// pure functions but for those that take a store, which block.
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

// `read` is the answer of a range read of mounts(fs). Errors: kCorrupt, kInternal (the answer is
// not complete: a mount that it does not show may be alive).
Result<std::vector<MountEntry>> parse_mounts(FsId fs, const kv::OpResult& read);
// Completes the first page of a range read of mounts(fs). The other pages are read later. They lack
// a mount that was claimed before them only if mount_claim(fs) has changed since the first page;
// and they may show an end earlier than the first page would. Errors: kUnavailable.
Status read_other_mounts(kv::Store& store, FsId fs, kv::OpResult& read);
// The mounts of a filesystem, ascending by id. Errors: kUnavailable, kCorrupt.
Result<std::vector<MountEntry>> list_mounts(kv::Store& store, FsId fs);
// The mounts of several filesystems, in the order of the filesystems.
Result<std::vector<std::vector<MountEntry>>> list_mounts_of_each(
    kv::Store& store, const std::vector<FsId>& filesystems);
// For messages: "vnfs1 on head c1n1 (mount 12, epoch 17)".
std::string describe(const MountEntry& mount);
// The first mount that has not ended, or nullptr.
const MountEntry* first_alive(const std::vector<MountEntry>& mounts);

}  // namespace symnas::fs
