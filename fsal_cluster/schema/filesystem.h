// Making and removing a filesystem: the only writers of c/fs/<name>.
// Thread-safe: functions without state; they block, and must not run on a store thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

inline constexpr std::uint32_t kSchemaVersion = 1;
inline constexpr std::uint32_t kFormatBlockBytes = 4096;
inline constexpr std::uint64_t kFormatGroupBlocks = 65'536;    // 256 MiB: 524,288 groups on 128 TiB
inline constexpr std::uint64_t kFormatGroupBlocksMin = 4'096;  // 16 MiB
// A group has one owner, and each of 16 heads must find some groups on a small volume, too.
inline constexpr std::uint64_t kFormatGroupsWanted = 256;

// Blocks of a group on a volume of that size: a power of two.
constexpr std::uint64_t format_group_blocks(std::uint64_t volume_bytes) {
  std::uint64_t blocks = kFormatGroupBlocks;
  while (blocks > kFormatGroupBlocksMin &&
         blocks * kFormatGroupsWanted * kFormatBlockBytes > volume_bytes)
    blocks /= 2;
  return blocks;
}
static_assert(format_group_blocks(std::uint64_t{1} << 40) == kFormatGroupBlocks);
static_assert(format_group_blocks(std::uint64_t{1} << 30) == kFormatGroupBlocksMin);
static_assert(format_group_blocks(std::uint64_t{16} << 30) == 16'384);

struct FormatOptions {
  std::string name;    // the caller has checked that it may be a name
  std::string volume;  // its record must exist and carry no other filesystem
  std::uint32_t root_uid = 0;
  std::uint32_t root_gid = 0;
  std::uint32_t root_mode = 0755;
  std::uint64_t group_blocks = kFormatGroupBlocks;
  bool access_times = false;     // are recorded
  bool acls_and_xattrs = false;  // may be set
};

// Creates the filesystem in one transaction: its record, id, root directory, stamp and inode
// counter. When the reply is lost, the record's uuid tells whether it was created; two are never
// made. Errors: kAlreadyExists (the name), kNotFound (the volume), kBusy (the volume carries
// another filesystem), kUnavailable, kUnknownOutcome (the deadline passed: the same call again
// finishes or answers kAlreadyExists), kNoSpace (quota).
Result<records::FilesystemRecord> format_filesystem(kv::Store& store, const env::Clock& clock,
                                                    const FormatOptions& options);

// Deletes the filesystem: marks the record (from then on no mount is granted), deletes all its keys
// in steps of kRemoveStepKeys, then the record. After an interruption at any point the same call
// goes on. `guards` are compared by the transaction that marks the record (for example: no export
// refers to the filesystem). Errors: kNotFound, kBusy (mounted: the message names head and VNFS),
// kConflict (a guard does not hold), kUnavailable, kUnknownOutcome (call again).
Status remove_filesystem(kv::Store& store, const std::string& name,
                         const std::vector<kv::Compare>& guards);

}  // namespace symnas::fs
