// Evaluation of ACLs as RFC 8881 section 6.2.1 has it. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "fsal_cluster/types/acl.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// The bits (kAce...) that an entry of the ACL allows or denies; what is in neither is not allowed.
struct AclVerdict {
  std::uint32_t allowed = 0;
  std::uint32_t denied = 0;
};

// The file that is asked for.
struct FileOwner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

// What the effective entries say to `who`. Knows neither root nor the rights that an owner always
// has: access.h does.
AclVerdict evaluate(const Acl& acl, const Credentials& who, const FileOwner& owner);

// One name that an ACL mentions.
struct AclName {
  AceWho who = AceWho::kEveryone;
  std::uint32_t id = 0;
  friend bool operator==(const AclName&, const AclName&) = default;
};
// What the effective entries say to a name, counting those of the name itself and of EVERYONE@ (RFC
// 8881 6.3.2).
AclVerdict evaluate(const Acl& acl, const AclName& name);
// The users and groups that the effective entries name, each once, in the order in which they
// appear.
std::vector<AclName> named(const Acl& acl);

}  // namespace symnas::fs
