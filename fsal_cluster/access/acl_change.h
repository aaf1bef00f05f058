// Setting the ACL or the mode of a file that has both (RFC 8881 section 6.4.1). Thread-safe: pure
// functions.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/acl.h"

namespace symnas::fs {

// Sets the ACL, and the nine low-order bits of the mode to what it shows. An ACL that says no more
// than a mode is not kept. Only `acl` of a change, or its POSIX parts, are looked at; a POSIX part
// that is not set stays as it is. Errors: kNotSupported (symbolic links have none), kTooLarge (more
// than kAcesMax entries), kInvalidArgument (check_posix_acl(), or entries to inherit for something
// that is no directory).
Status set_acl(const AclChange& change, records::Inode& inode);

// chmod: sets the mode bits 07777, and the ACL in step. Errors: kTooLarge (the ACL would have more
// than kAcesStoredMax entries).
Status set_mode(std::uint32_t mode, records::Inode& inode);

}  // namespace symnas::fs
