// Mode bits and ACL of a file are two views of one thing (RFC 8881 section 6.3.2 and 6.4.1).
// Thread-safe: pure functions. Modes are the nine low-order bits.
//
// The group's bits are the union of what GROUP@ and all named users and groups have, as in POSIX,
// where they are the mask: docs/decisions/0017.
#pragma once

#include <cstdint>
#include <optional>

#include "fsal_cluster/types/acl.h"

namespace symnas::fs {

enum class AclOf : bool { kFile, kDirectory };

inline constexpr std::uint32_t kPermissionBits = 0777;

// The access mask that stands for rights (4 read, 2 write, 1 execute).
std::uint32_t mask_of_rights(std::uint32_t rights, AclOf what);
// The rights in an access mask: write needs WRITE_DATA and APPEND_DATA.
std::uint32_t rights_of_mask(std::uint32_t mask);
// What an entry that stands for rights allows beside them: whom it is for decides.
std::uint32_t common_mask(AceWho who);

// The mode that the ACL shows.
std::uint32_t mode_of(const Acl& acl);
// The ACL of a file that has only a mode.
Acl acl_of_mode(std::uint32_t mode, AclOf what);
// The mode that says everything that the ACL says; nullopt: the ACL says more. Then it is kept.
std::optional<std::uint32_t> only_mode(const Acl& acl, AclOf what);
// The ACL after chmod: mode_of() of it is `mode`, and nobody but the owner, the owning group and
// everyone has gained anything. Of named users and groups, none keeps what the group's bits do not
// have. The owning group gains the bits that nobody of the group class had. Entries for inheritance
// stay.
Acl with_mode(const Acl& acl, std::uint32_t mode, AclOf what);

}  // namespace symnas::fs
