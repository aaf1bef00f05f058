// Adding a name with a new inode: the part that CREATE, MKDIR, MKNOD and SYMLINK share. One
// transaction of about five puts: inode, bucket, directory times, (token), and the session's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/session.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/directory_change.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/quota.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

struct NewNodeInput {
  FsId fs;
  const Credentials& who;
  const Place& place;
  FileType type;
  const NewNode& node;                    // attributes, device numbers, symlink target
  std::optional<std::uint64_t> verifier;  // of an exclusive create
  Ino ino;
  Generation generation;
  std::vector<kv::Op> tokens;  // FileData::tokens_at_create
  TreeOf tree;                 // of the directory; handed on
  std::int64_t now_ns = 0;
};
struct NewNodePlan {
  records::Inode inode;
  kv::Mutation mutation;
};

// Pure. Compares: the directory's inode (exists, permission, setgid), the bucket (the name is
// free). Errors: kPermission, kAlreadyExists, kNotOwner (an owner or group that the caller may not
// give), kNoSpace (bucket full), kOutOfRange (size), those of
// set_acl() (acl_change.h).
Result<NewNodePlan> plan_new_node(const NewNodeInput& input);

// Adds the node: reads, plans and commits, with retries. Errors: those of read_place,
// plan_new_node, retry_conflicts.
struct NewNodeRequest {
  const Credentials& who;
  const Handle& directory;
  const std::string& name;
  FileType type;
  const NewNode& node;
  std::optional<std::uint64_t> verifier;
};
Result<Created> add_node(Context& context, const NewNodeRequest& request);
// One attempt of add_node(), on a place that was read already.
Result<Created> try_add_node(Context& context, const NewNodeRequest& request, const Place& place,
                             int attempt, const DirectoryTurn& turn);

}  // namespace symnas::fs
