// ACLs and callers by chance, for properties that hold for all of them. Few users and groups, so
// that entries meet.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "fsal_cluster/access/acl.h"
#include "fsal_cluster/types/acl.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

inline constexpr FileOwner kFile{1, 11};

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  Ace ace() {
    Ace out;
    out.type = below(3) == 0 ? AceType::kDeny : AceType::kAllow;
    out.who = static_cast<AceWho>(below(5));
    if (out.who == AceWho::kUser) out.id = 1 + below(3);
    if (out.who == AceWho::kGroup) out.id = 11 + below(3);
    out.mask = random_() & kAceMask;
    if (below(3) == 0) out.flags = random_() & kAceFlags;
    return out;
  }
  Acl acl() {
    Acl out;
    for (std::uint32_t n = below(7); n > 0; --n) out.aces.push_back(ace());
    return out;
  }
  PosixAcl posix() {
    PosixAcl out{{PosixTag::kUserObject, 0, below(8)}};
    for (std::uint32_t id = 1; id <= 3; ++id)
      if (below(2) == 0) out.push_back({PosixTag::kUser, id, below(8)});
    out.push_back({PosixTag::kGroupObject, 0, below(8)});
    for (std::uint32_t id = 11; id <= 13; ++id)
      if (below(2) == 0) out.push_back({PosixTag::kGroup, id, below(8)});
    if (out.size() > 2 || below(2) == 0) out.push_back({PosixTag::kMask, 0, below(8)});
    out.push_back({PosixTag::kOther, 0, below(8)});
    return out;
  }
  // No root: it is not judged by ACLs.
  Credentials caller() {
    Credentials out{1 + below(4), 11 + below(4), {}};
    for (std::uint32_t gid = 11; gid <= 13; ++gid)
      if (below(3) == 0) out.groups.push_back(gid);
    return out;
  }

 private:
  std::mt19937 random_;
};

}  // namespace symnas::fs
