// Directory trees with a quota, from outside of a mount. A tree is a directory and all that lies in
// it. Thread-safe; blocks. No call on a store thread.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/quota/admin_change.h"

namespace symnas::fs {

// Makes a tree of a directory, empty or not; a mount marks what is in it (tree_marker.h). Returns
// its number, which is never used again. `path` is for people. Errors: those of change_record();
// kInvalidArgument (usage is not counted; the root of the filesystem; no directory; it lies in a
// tree or has one below it), kAlreadyExists, kNotFound, kNoSpace (kTreesMax).
Result<std::uint32_t> add_tree(kv::Store& store, FsId fs, Ino root, const std::string& path,
                               Doing doing = Doing::kChange);
// Takes a tree and its limits away. Inodes keep the number, which means nothing any more. Errors:
// those of change_record(); kNotFound.
Status remove_tree(kv::Store& store, FsId fs, std::uint32_t tree, Doing doing = Doing::kChange);
// The tree whose root this directory is. Errors: kNotFound, kUnavailable.
Result<std::uint32_t> find_tree(kv::Store& store, FsId fs, Ino root, const std::string& path);

}  // namespace symnas::fs
