// RENAME (RFC 1813 3.3.14, rename(2)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/link_drop.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Of both directories.
struct Renamed {
  DirectoryChange from;
  DirectoryChange to;
};

struct RenameInput {
  FsId fs;
  const Credentials& who;
  const Place& from;
  const Place& to;  // may be in the same directory, even the same bucket
  const Node& source;
  const Node* target;  // what `to` names now, or nullptr
  std::int64_t now_ns = 0;
  std::optional<std::uint32_t> tree = {};  // the number that the source gets (quota.h)

  bool between_directories() const { return from.ino() != to.ino(); }
  bool moves_directory() const { return source.is_directory() && between_directories(); }
};

// Pure. Checks permission on both directories (and on a directory that changes its parent),
// stickiness, and which type may replace which. Errors: kPermission, kNotOwner, kNotDirectory (a
// directory onto a file), kIsDirectory (a file onto a directory), kNotEmpty (onto the directory it
// comes from).
Status check_rename(const RenameInput& input);

// Pure. Compares: both directories' inodes, both buckets, the source's inode, what `drop` compares
// (the target: its inode, and that it has no entry), and for a directory that changes its parent
// the filesystem's move key. Errors: kNoSpace (bucket full).
Result<kv::Mutation> plan_rename(const RenameInput& input, const TxnPart& drop,
                                 const std::optional<Revision>& directory_move);

// Does nothing when both names lead to one inode (rename(2)). Errors: kNotFound, kInvalidArgument
// (a directory into itself or below), those of check_rename, trees_of_rename, plan_rename,
// read_place, retry_conflicts.
Result<Renamed> rename(Context& context, const Credentials& who, const Handle& from_dir,
                       const std::string& from_name, const Handle& to_dir,
                       const std::string& to_name);

}  // namespace symnas::fs
