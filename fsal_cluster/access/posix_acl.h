// POSIX ACLs (POSIX 1003.1e draft 17) as views of a file's ACL, as in
// draft-ietf-nfsv4-acl-mapping-05. Thread-safe: pure functions.
//
// An NFSv4 ACL can say more than a POSIX one. The POSIX view then shows less than the ACL allows,
// and never more. The mask of a POSIX ACL is not stored: entries are kept as the mask leaves them,
// and the mask that is shown is their union.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "fsal_cluster/access/acl_mode.h"
#include "fsal_cluster/types/acl.h"

namespace symnas::fs {

// Errors: kInvalidArgument (an object tag that is missing or there twice, a name that is there
// twice, names without a mask, rights or tags that are none), kTooLarge (more entries than an ACL
// may have).
Status check_posix_acl(const PosixAcl& posix);
// The effective entries that say what the POSIX ACL says: who asks for one right gets the same
// answer from both. REQUIRES: check_posix_acl().
Acl acl_of_posix(const PosixAcl& posix, AclOf what);
// The same as entries that files and directories inherit.
Acl inheritable_of_posix(const PosixAcl& posix);

// The access ACL that shows the effective entries; in the order of getfacl.
PosixAcl posix_of_acl(const Acl& acl, AclOf what);
// The default ACL that shows the entries that directories inherit; empty: there are none.
PosixAcl inherited_posix_of_acl(const Acl& acl);

}  // namespace symnas::fs
