// Extended attributes (RFC 8276): GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR. Names are without
// "user."; regular files and directories have attributes. Who may: as Linux has it for user.*
// (xattr(7), fs/xattr.c), by the mode of the file: read permission to get and to list, write
// permission to set and to remove; in a sticky directory only its owner and root may.
//
// One attribute is one key; the inode's record has their number and bytes. Every change puts that
// record, too: ctime and change attribute move, the limits are checked on what the transaction
// compares, and two changes of one file conflict.
//
// Thread class: thread-safe; the functions block while etcd is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/link_drop.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// An attribute before a change.
struct Xattr {
  std::string name;
  std::optional<std::size_t> value_bytes;  // nullopt: it does not exist
  Revision mod_revision;
};

// Pure. Compares: the inode, and the attribute if it exists. Errors: kPermission, kNotOwner (of
// such a file, or of a sticky directory), kAlreadyExists and kNotFound (by `option`), kTooLarge
// (the value, or all names and values together), kNoSpace (kXattrsMax names), kCorrupt.
Result<kv::Mutation> plan_set_xattr(FsId fs, const Credentials& who, const Node& node,
                                    const Xattr& before, const std::string& value,
                                    XattrOption option, std::int64_t now_ns);
// Pure. Compares: as plan_set_xattr(). Errors: kPermission, kNotOwner, kNotFound, kCorrupt.
Result<kv::Mutation> plan_remove_xattr(FsId fs, const Credentials& who, const Node& node,
                                       const Xattr& before, std::int64_t now_ns);
// Adds to the removal of the inode that of its attributes.
void erase_xattrs(FsId fs, const Node& node, std::vector<kv::Op>& writes);

// Errors of all four: kStale, kCorrupt, those of Session::range and retry_conflicts; of those with
// a name: kInvalidArgument (empty, or with a NUL), kNameTooLong.

// Errors: kNotFound, kPermission. Cost: one linearizable read if the file has attributes.
Result<std::string> get_xattr(Context& context, const Credentials& who, const Handle& handle,
                              const std::string& name);
// The names behind `cookie` (0: all), ascending by cookie. A list that goes on shows each name that
// is there all the time once. Errors: kPermission. Cost: one read of all attributes, if there are
// any.
Result<std::vector<XattrName>> list_xattrs(Context& context, const Credentials& who,
                                           const Handle& handle, std::uint64_t cookie);
// Errors: those of plan_set_xattr().
Status set_xattr(Context& context, const Credentials& who, const Handle& handle,
                 const std::string& name, const std::string& value, XattrOption option);
// Errors: those of plan_remove_xattr().
Status remove_xattr(Context& context, const Credentials& who, const Handle& handle,
                    const std::string& name);

}  // namespace symnas::fs
