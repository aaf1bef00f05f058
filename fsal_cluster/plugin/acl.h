// ACLs as ganesha has them: fsal_acl_t with NFSv4 entries, or with entries of POSIX ACLs
// (FSAL_ACE_IFLAG_POSIX), which NFSACL shows and sets. Any thread.
#pragma once

#include <memory>

#include "common/base/result.h"
#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/types/acl.h"
#include "fsal_cluster/types/types.h"

namespace symnas::plugin {

// Puts the ACL into `out` if its request_mask asks for one, as NFSv4 ACL or as POSIX ACLs. A file
// that has none shows what its mode says. The receiver releases it (fsal_release_attrs()).
void fill_acl(fsal_attrlist* out, const fs::Attributes& attributes);

// What a client sets; null: no ACL. Errors: kNotSupported (an entry of a type that is not
// supported).
Result<std::shared_ptr<const fs::AclChange>> to_acl_change(const fsal_attrlist& in);

// obj_ops.test_access: whether the caller has `access`, by ACL or mode as the core judges, and
// which bits of it.
fsal_status_t test_access(fsal_obj_handle* handle, fsal_accessflags_t access,
                          fsal_accessflags_t* allowed, fsal_accessflags_t* denied, bool owner_skip);

}  // namespace symnas::plugin
