#include "fsal_cluster/access/acl.h"

#include <algorithm>

#include "fsal_cluster/access/access.h"

namespace symnas::fs {
namespace {

template <class Matches>
AclVerdict evaluate_if(const Acl& acl, Matches matches) {
  AclVerdict verdict;
  for (const Ace& ace : acl.aces) {
    if (!ace.is_effective() || !matches(ace)) continue;
    const std::uint32_t open = ace.mask & ~(verdict.allowed | verdict.denied);
    (ace.type == AceType::kAllow ? verdict.allowed : verdict.denied) |= open;
  }
  return verdict;
}

bool matches(const Ace& ace, const Credentials& who, const FileOwner& owner) {
  switch (ace.who) {
    case AceWho::kUser: return who.uid == ace.id;
    case AceWho::kGroup: return in_group(who, ace.id);
    case AceWho::kOwner: return who.uid == owner.uid;
    case AceWho::kOwningGroup: return in_group(who, owner.gid);
    case AceWho::kEveryone: return true;
  }
  return false;
}

}  // namespace

AclVerdict evaluate(const Acl& acl, const Credentials& who, const FileOwner& owner) {
  return evaluate_if(acl, [&](const Ace& ace) { return matches(ace, who, owner); });
}

AclVerdict evaluate(const Acl& acl, const AclName& name) {
  return evaluate_if(acl, [&](const Ace& ace) {
    return ace.who == AceWho::kEveryone || AclName{ace.who, ace.id} == name;
  });
}

std::vector<AclName> named(const Acl& acl) {
  std::vector<AclName> names;
  for (const Ace& ace : acl.aces) {
    const AclName name{ace.who, ace.id};
    if (ace.is_effective() && ace.is_named() &&
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names;
}

}  // namespace symnas::fs
