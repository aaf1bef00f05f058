// Waits: which mounts of a filesystem wait for which others, read from its keys by somebody who
// mounts nothing.
// Thread-safe: a function without state; it blocks, and must not run on a store thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/schema/mount_entry.h"

namespace symnas::fs {

struct Waits {
  struct Mount {
    MountEntry entry;    // has not ended
    Revision heartbeat;  // 0: none yet
  };
  // A want for the tokens of an inode; or for the filesystem, addressed to the sole mount.
  struct Want {
    std::string key;
    Revision revision;
    MountId by;                    // 0: unknown (a mount that wants to join a sole one)
    std::vector<MountId> holders;  // the mounts that have to answer it
  };
  std::vector<Mount> mounts;
  std::vector<Want> wants;  // the oldest kWantsLookedAt of the first ones
};

// Errors: kUnavailable, kCorrupt.
Result<Waits> look_at_waits(kv::Store& store, FsId fs, std::int64_t deadline_ms);

}  // namespace symnas::fs
