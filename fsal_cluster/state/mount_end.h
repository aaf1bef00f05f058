// Ending a mount: the end record, the proof that nothing of it can happen any more (INV-8).
// Thread-safe; blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"
#include "fsal_cluster/schema/mount_entry.h"

namespace symnas::fs {

struct EndProof {
  std::string by;     // head, or "self" for a clean close
  std::string proof;  // "clean close", "killed, reaped, OFD locks obtained on 4 LUNs"
};

// Puts the end record of one mount. Already ended, or recovered and removed since: OK, nothing is
// written. REQUIRES: the proof is true: the mount's process is gone and nothing of it can reach a
// LUN, or it closed cleanly. Errors: kUnavailable, kUnknownOutcome (call again), kConflict (others
// keep changing the filesystem: call again), kCorrupt.
Status end_mount(kv::Store& store, const env::Clock& clock, FsId fs, MountId mount,
                 const EndProof& proof);

struct MountOf {
  std::string filesystem;
  FsId fs;
  MountEntry mount;
};
// The living mounts of the VNFS whose epoch is at most `epoch_max`, on every filesystem. Errors:
// those of the store, kCorrupt.
Result<std::vector<MountOf>> living_mounts_of(kv::Store& store, VnfsId vnfs, Epoch epoch_max);

// What vnfsd calls after the local fence of an instance: ends all of living_mounts_of(). Returns
// what it ended, for the event log. Idempotent. Errors: as end_mount.
Result<std::vector<MountOf>> end_mounts_of(kv::Store& store, const env::Clock& clock, VnfsId vnfs,
                                           Epoch epoch_max, const EndProof& proof);

}  // namespace symnas::fs
