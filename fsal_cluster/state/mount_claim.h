// Claiming a filesystem: the transaction that makes an instance a mount. Thread-safe; blocks. Two
// claims of one filesystem that read the same state cannot both win: each compares and puts one key
// (keys::mount_claim). A claim that finds no living mount makes the sole mount. A claim that finds
// a sole mount waits until that has made room (several_mounts.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/membership.h"

namespace symnas::fs {

// SessionOptions::session_id of a mount's only session: the prefix of its slots names the mount.
// The claim arms them (SessionOptions::slots_armed_at).
inline constexpr const char* kMountSession = "s";

struct ClaimOptions {
  FsId fs;
  std::string filesystem_name;
  records::MountRecord record;      // its epoch and vnfs_id distinguish it from any other
  std::vector<kv::Compare> guards;  // owner record of the VNFS (INV-3)
};

struct Claim {
  MountId id;
  Revision create_revision;  // of the mount record: what every later transaction compares
  records::FilesystemRecord filesystem;
  std::vector<MountEntry> ended;  // to be recovered; their records are removed then
  Membership::Mode mode = Membership::Mode::kShared;
};

// What one read transaction says about the filesystem.
struct ClaimView {
  kv::OpResult filesystem;  // c/fs/<name>
  kv::OpResult mounts;
  kv::OpResult mount_counter;
  kv::OpResult claim;
  kv::OpResult stamp;
  kv::OpResult solo;
  kv::OpResult want_solo;
};

struct ClaimPlan {
  kv::Txn txn;
  Claim claim;  // without create_revision
  // The sole mount that must make room first. `txn` asks it to, or is empty when it was asked
  // already.
  std::optional<MountEntry> waits_for;
};

// Pure. `attempt`, from 0: see advance_stamp(). Errors: kNotFound (no such filesystem, another one
// of that name, or it is being removed), kBusy (another mount of the same VNFS has not ended: the
// message names its head and says what to do), kNotSupported (another schema version), kCorrupt.
Result<ClaimPlan> plan_claim(const ClaimView& view, const ClaimOptions& options, int attempt);

// Claims the filesystem; takes at most deadline_ms. When a reply is lost, the mount record itself
// tells the outcome. Errors: those of plan_claim, kBusy (a sole mount did not make room), kNoSpace
// (quota: not claimed), kEnded (a guard does not hold), kUnavailable, kUnknownOutcome (the deadline
// passed: the caller must exit; if the mount exists, the caller's fence ends it).
Result<Claim> claim_mount(kv::Store& store, const ClaimOptions& options, std::int64_t deadline_ms);

}  // namespace symnas::fs
