// What a new file or directory inherits from the ACL of its directory (RFC 8881 section 6.4.3).
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "fsal_cluster/access/acl_mode.h"
#include "fsal_cluster/types/acl.h"

namespace symnas::fs {

struct Inherited {
  std::uint32_t mode = 0;  // nine low-order bits
  std::optional<Acl> acl;  // nullopt: the mode says all
};

// `mode`: what the client wants, already less its umask if the client has one; nullopt: what is
// inherited decides. Rights that the mode does not have are not inherited; rights that are not
// inherited are not given, whatever the mode says, as POSIX 1003.1e draft 17, 23.1.5.1, has it.
// nullopt: nothing is inherited, and the mode holds as it is.
std::optional<Inherited> inherit(const Acl& directory, AclOf what,
                                 const std::optional<std::uint32_t>& mode);

}  // namespace symnas::fs
