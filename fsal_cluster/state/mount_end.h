// Ending a mount: the end record, the proof that nothing of it can happen any more (INV-8).
// Thread-safe; blocks.
#pragma once

#include <cstdint>
#include <map>
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

// Puts the end record of one mount. OK without a write when the mount has ended already, or was
// recovered and removed. REQUIRES: the proof is true: the mount's process is gone and nothing of it
// can reach a LUN, or it closed cleanly. Errors: kUnavailable, kUnknownOutcome (call again),
// kConflict (other transactions keep changing the filesystem: call again), kCorrupt.
Status end_mount(kv::Store& store, const env::Clock& clock, FsId fs, MountId mount,
                 const EndProof& proof);

struct MountOf {
  std::string filesystem;
  FsId fs;
  MountEntry mount;
};
using Filesystems = std::map<std::string, FsId>;  // by name
// The living mounts of all these filesystems. Errors: those of the store, kCorrupt.
Result<std::vector<MountOf>> living_mounts(kv::Store& store, const Filesystems& filesystems);
// As above, of all filesystems that are recorded.
Result<std::vector<MountOf>> living_mounts(kv::Store& store);
// The mounts of `mounts` that belong to the VNFS and whose epoch is at most `epoch_max`.
std::vector<MountOf> mounts_of(std::vector<MountOf> mounts, VnfsId vnfs, Epoch epoch_max);

// Ends the living mounts of the VNFS, on every filesystem, whose epoch is at most `epoch_max`:
// vnfsd calls this after a fence. Returns the mounts that it ended, for the event log. Idempotent.
// Errors: as end_mount.
Result<std::vector<MountOf>> end_mounts_of(kv::Store& store, const env::Clock& clock, VnfsId vnfs,
                                           Epoch epoch_max, const EndProof& proof);

}  // namespace symnas::fs
