// Dump: one inode with its extents, as the records show it. Blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "cvm/stripe_map.h"
#include "fsal_cluster/check/view.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::check {

struct DumpedExtent {
  std::uint64_t file_block = 0;
  std::uint64_t volume_block = 0;
  std::uint32_t blocks = 0;
  std::uint32_t written_blocks = 0;
  std::vector<cvm::Piece> pieces;  // where its bytes lie; LUNs are numbered within the volume
};

struct InodeDump {
  Ino ino;
  Revision revision;  // the revision that was read
  records::Inode inode;
  std::optional<records::DirectoryTimes> times;
  std::uint32_t block_bytes = 0;
  std::vector<DumpedExtent> extents;  // ascending in the file
  bool more_extents = false;          // kDumpExtentsMax cut the list
};

// Resolves "/a/b" from the root (symlinks are not followed). Errors: kInvalidArgument (not
// absolute), kNotFound (names the first name that does not exist), kNotDirectory, as View::get.
Result<Ino> resolve(View& view, const std::string& path);

// Errors: kNotFound, kCorrupt, as View::read.
Result<InodeDump> dump_inode(View& view, Ino ino);

}  // namespace symnas::fs::check
