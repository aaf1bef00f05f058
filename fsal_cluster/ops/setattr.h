// SETATTR (RFC 1813 3.3.2): POSIX' rules of chmod, chown, utimes and truncate in one step.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Pure. Checks and applies everything but the size. The owner or root may set mode, ACL and
// explicit times; others need WRITE_ACL or WRITE_ATTRIBUTES of the ACL, and WRITE_OWNER to become
// the owner. An ACL is set before a mode, and each brings the other one in step
// (access/acl_change.h). Root may set any uid and gid; the owner one of its own groups. Server time
// and size need write permission or ownership. A chown or a truncate without privilege clears
// setuid and setgid (access.h); setting setgid needs membership in the file's group. Errors:
// kNotOwner, kPermission, those of set_acl() and set_mode().
Status apply_setattr(const Credentials& who, const SetAttributes& changes, std::int64_t now_ns,
                     records::Inode& inode);

// Pure. Compares: the inode. A directory's mtime goes into its content times. Errors: those of
// apply_setattr.
Result<kv::Mutation> plan_setattr(FsId fs, const Credentials& who, const Node& node,
                                  const SetAttributes& changes, std::int64_t now_ns);

// Makes all changes or none. A size goes through FileData::set_size. Errors: also kStale,
// kIsDirectory or kInvalidArgument (a size for something that has none), kOutOfRange.
Result<Attributes> setattr(Context& context, const Credentials& who, const Handle& handle,
                           const SetAttributes& changes);

}  // namespace symnas::fs
