// Facts: what the findings of one check say together, and who has the filesystem mounted. Thread
// class: value type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "fsal_cluster/check/check.h"
#include "fsal_cluster/repair/snapshot.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/schema/name_hash.h"

namespace symnas::fs::repair {

struct Facts {
  const check::Report* report = nullptr;
  FsId fs;
  std::optional<NameHasher> hasher;
  std::int64_t wall_ns = 0;
  std::vector<MountEntry> mounts;                                     // at the checked revision
  bool all_known = true;                                              // no finding is counted only
  std::map<std::uint64_t, std::set<check::Fault>> of;                 // by inode
  std::map<check::Fault, std::vector<const check::Finding*>> by;      // by fault
  std::map<std::uint64_t, std::vector<const check::Finding*>> named;  // missing inode: its names

  bool has(check::Fault fault) const { return by.contains(fault); }
  bool has(Ino ino, check::Fault fault) const;
  // Whether some finding has this fault with this value.
  bool has_value(check::Fault fault, std::uint64_t value) const;
  // Whether one of the findings says that blocks of the file have two owners.
  bool has_two_owners(Ino ino) const;
  // Why the file's dead map must not be swept: the sweep frees only what the reverse map gives to
  // the file, and with the map goes what tells of the rest. nullopt: all of it is its own.
  std::optional<std::string> why_not_swept(Ino ino) const;
  // Whether a file's map has some of the blocks that the reverse map does not give to it, or
  // whether that is not known.
  bool unmarked(std::uint64_t begin, std::uint64_t end) const;
  const MountEntry* alive(MountId id) const;
  const MountEntry* alive_of_vnfs(const std::string& vnfs) const;
  const MountEntry* any_alive() const;
  bool mount_recorded(MountId id) const;
  std::uint64_t chunk_blocks() const;
  std::uint64_t group_blocks() const { return report->context.filesystem.group_blocks(); }
  std::uint64_t block_bytes() const { return report->context.filesystem.block_bytes(); }
};

// `report` outlives the result. Errors: as Snapshot::range.
Result<Facts> gather_facts(const check::Report& report, Snapshot& snapshot, std::int64_t wall_ns);

}  // namespace symnas::fs::repair
