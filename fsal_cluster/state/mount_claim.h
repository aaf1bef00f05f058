// Claiming a filesystem: the transaction that makes an instance a mount. Thread-safe; blocks.
// Two claims of one filesystem cannot both win: each compares and puts one key (keys::mount_claim).
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

struct ClaimOptions {
  std::string filesystem_name;
  records::MountRecord record;      // epoch and vnfs_id make it unlike any other
  std::vector<kv::Compare> guards;  // owner record of the VNFS (INV-3)
};

struct Claim {
  MountId id;
  Revision create_revision;  // of the mount record: what every later transaction compares
  records::FilesystemRecord filesystem;
  std::vector<MountEntry> ended;  // to be recovered, then their records removed
};

// What one read transaction says about the filesystem.
struct ClaimView {
  kv::OpResult filesystem;  // c/fs/<name>
  kv::OpResult mounts;
  kv::OpResult mount_counter;
  kv::OpResult claim;
  kv::OpResult stamp;
};

struct ClaimPlan {
  kv::Txn txn;
  Claim claim;  // without create_revision
};

// Pure. Errors: kNotFound (no such filesystem, or it is being removed), kBusy (another mount has
// not ended: the message names its head and VNFS and says what to do), kNotSupported (another
// schema version), kCorrupt.
Result<ClaimPlan> plan_claim(const ClaimView& view, const ClaimOptions& options);

// Claims, at most deadline_ms long. A lost reply is looked up by the mount record itself.
// Errors: those of plan_claim, kNoSpace (quota: not claimed), kEnded (a guard does not hold),
// kUnavailable, kUnknownOutcome (the deadline passed: the caller must exit; its fence ends the
// mount, should it exist).
Result<Claim> claim_mount(kv::Store& store, const ClaimOptions& options, std::int64_t deadline_ms);

}  // namespace symnas::fs
