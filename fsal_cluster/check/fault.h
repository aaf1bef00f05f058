// Fault: what exactly is wrong, for a repair (fsal_cluster/repair); Damage: where. Several faults
// share one Kind, which is for people and scripts. Thread class: value types.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::fs::check {

// Behind each: what `other`, `value` and `name` of its Damage are. The finding's inode is the
// object.
enum class Fault : std::uint8_t {
  kOther,  // no repair is known
  // --- names; the object is the directory
  kUnreadableNames,        // value: hash
  kNamesWithoutDirectory,  // value: hash
  kNamesOfNoDirectory,     // value: hash
  kBucketForm,             // value: hash: empty, or of an impossible hash
  kNameForm,               // value: hash, name: no legal name
  kNamePlace,              // value: hash, name: hash, slot or order is wrong
  kNameTwice,              // value: hash, name
  kNameOfNothing,          // value: hash, name, other: the missing inode
  kNameOfRoot,             // value: hash, name
  kNameType,               // value: hash, name, other: the inode
  // --- tree and links
  kRootMissing,
  kRootParent,
  kParentDiffers,  // other: directory that has the name, value: hash, name
  kParentMissing,
  kDirectoryNameless,
  kDirectoryNames,  // value: how many
  kDirectoryLinks,
  kCycle,
  kLinkCount,  // value: names that lead to it
  kNameless,   // no link, no orphan record
  // --- records
  kUnreadableInode,
  kUnknownType,
  kMode,
  kAcl,
  kReservedIno,
  kSymlinkSize,
  kUnreadableTimes,
  kTimesOfNothing,
  kTimesOfNoDirectory,
  kUnknownKey,
  // --- counters and the stamp
  kInoCounter,
  kMountCounter,  // value: the id that must lie below it
  kMountClaim,    // value: the newest mount
  kStamp,
  kCtimeAhead,
  // --- maps
  kUnreadableChunk,    // value: chunk
  kUnreadableReverse,  // value: volume block
  kReverseMissing,     // value: volume block, other: file block
  kReverseDiffers,     // value: volume block, other: file block
  kReverseLost,        // value: volume block
  kReverseOverlaps,    // value: volume block
  kReverseMisplaced,   // value: volume block, other: group of its key
  kExtent,             // form or place of an extent
  kMapBehindEnd,
  kTwoOwners,   // value: volume block, other: inode of the other owner
  kBlockCount,  // value: blocks of the map
  kMapOfNoFile,
  kGenerationAhead,
  kDeadMap,       // value: map generation
  kMapOfNothing,  // value: map generation
  kChunksUnsaid,
  kEmptyChunk,  // value: chunk, other: map generation
  kWatermark,
  // --- orphan records
  kUnreadableOrphan,
  kOrphanOpenGone,
  kOrphanTruncatedGone,
  kOrphanGeneration,
  kOrphanLinked,
  kOrphanTakesLive,
  // --- what mounts hold; other: the mount
  kTokenLeft,
  kHeartbeatLeft,
  kHoldLeft,
  kSlotLeft,
  kGroupLeft,  // value: group
  kEndLeft,
  kMountEnded,  // it has ended, nobody has recovered it
  kHeldByEnded,
  kTokenOfNothing,
  kWantOfNothing,
  kTwoTokens,
  kGroupMissing,    // value: group
  kGroupOffVolume,  // value: group
  // --- locks; name: the rest of the key
  kLockOfNothing,
  kLockOfNoVnfs,
  kLockEmpty,
  kLockKey,
  kLockConflict,
  kUnreadableLock,
  // --- extended attributes
  kXattrCount,  // value: count << 32 | bytes
  kXattrOfNothing,
};

struct Damage {
  Fault fault = Fault::kOther;
  std::uint64_t value = 0;
  std::uint64_t other = 0;
  std::string name;
  std::uint32_t blocks = 0;  // of the extent: kReverseMissing, kReverseDiffers
};

}  // namespace symnas::fs::check
