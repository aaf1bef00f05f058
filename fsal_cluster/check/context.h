// Context: what a check knows of a filesystem besides the filesystem's keys. Summary: what a check
// counts. Value types.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "common/base/ids.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::check {

struct Context {
  records::FilesystemRecord filesystem;
  std::uint64_t volume_blocks = 0;
  std::uint64_t next_mount = 0;  // no mount has this id yet; 0 = not known
  // Names of all VNFSs; absent: not known.
  std::optional<std::set<std::string>> vnfses;

  FsId fs() const { return FsId{filesystem.fsid()}; }
};

struct Summary {
  std::uint64_t files = 0;  // regular
  std::uint64_t directories = 0;
  std::uint64_t others = 0;
  std::uint64_t names = 0;
  std::uint64_t extents = 0;
  std::uint64_t used_blocks = 0;  // as the reverse map says
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;  // total of keys and values
};

}  // namespace symnas::fs::check
