#include "fsal_cluster/access/posix_acl.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fsal_cluster/access/acl.h"

namespace symnas::fs {
namespace {

bool is_group(AceWho who) { return who == AceWho::kGroup || who == AceWho::kOwningGroup; }

std::size_t count(const PosixAcl& posix, PosixTag tag) {
  return static_cast<std::size_t>(std::count_if(
      posix.begin(), posix.end(), [tag](const PosixEntry& entry) { return entry.tag == tag; }));
}

bool is_named(PosixTag tag) { return tag == PosixTag::kUser || tag == PosixTag::kGroup; }

bool known(PosixTag tag) {
  switch (tag) {
    case PosixTag::kUserObject:
    case PosixTag::kUser:
    case PosixTag::kGroupObject:
    case PosixTag::kGroup:
    case PosixTag::kMask:
    case PosixTag::kOther: return true;
  }
  return false;
}

// Users and groups with what the mask leaves them.
struct Rights {
  std::uint32_t owner = 0;
  std::uint32_t other = 0;
  std::vector<std::pair<AclName, std::uint32_t>> users;
  std::vector<std::pair<AclName, std::uint32_t>> groups;  // the owning group first

  explicit Rights(const PosixAcl& posix) {
    std::uint32_t mask = 7;
    for (const PosixEntry& entry : posix)
      if (entry.tag == PosixTag::kMask) mask = entry.rights;
    for (const PosixEntry& entry : posix) {
      switch (entry.tag) {
        case PosixTag::kUserObject: owner = entry.rights; break;
        case PosixTag::kUser:
          users.push_back({{AceWho::kUser, entry.id}, entry.rights & mask});
          break;
        case PosixTag::kGroupObject:
          groups.insert(groups.begin(), {{AceWho::kOwningGroup, 0}, entry.rights & mask});
          break;
        case PosixTag::kGroup:
          groups.push_back({{AceWho::kGroup, entry.id}, entry.rights & mask});
          break;
        case PosixTag::kMask: break;
        case PosixTag::kOther: other = entry.rights; break;
      }
    }
  }
};

class Builder {
 public:
  explicit Builder(AclOf what) : what_(what) {}

  void allow(const AclName& name, std::uint32_t rights) {
    add(AceType::kAllow, name, mask_of_rights(rights, what_) | common_mask(name.who));
  }
  // `others`: what entries that come later would allow.
  void deny(const AclName& name, std::uint32_t rights, std::uint32_t others) {
    add(AceType::kDeny, name, mask_of_rights(others & ~rights, what_));
  }
  Acl take() { return std::move(acl_); }

 private:
  void add(AceType type, const AclName& name, std::uint32_t mask) {
    if (mask != 0) acl_.aces.push_back({type, name.who, name.id, 0, mask});
  }

  AclOf what_;
  Acl acl_;
};

// What a name surely has, whoever else the caller is: a user may be in any group, and the owner may
// be any user. So what is denied to these before it is allowed does not count.
std::uint32_t sure_mask(const Acl& acl, const AclName& name) {
  std::uint32_t allowed = 0;
  std::uint32_t decided = 0;
  for (const Ace& ace : acl.aces) {
    if (!ace.is_effective()) continue;
    const bool own = ace.who == AceWho::kEveryone || AclName{ace.who, ace.id} == name;
    const bool perhaps =
        name.who != AceWho::kEveryone && (is_group(ace.who) || name.who == AceWho::kOwner);
    if (!own && !(perhaps && ace.type == AceType::kDeny)) continue;
    if (ace.type == AceType::kAllow) allowed |= ace.mask & ~decided;
    decided |= ace.mask;
  }
  return allowed;
}

// Whether some entry keeps the name from deleting names in a directory that it may write.
bool denies_delete(const Acl& acl) {
  return std::ranges::any_of(acl.aces, [](const Ace& ace) {
    return ace.is_effective() && ace.type == AceType::kDeny && (ace.mask & kAceDeleteChild) != 0;
  });
}

std::uint32_t shown(const Acl& acl, const AclName& name, AclOf what) {
  const std::uint32_t mask = sure_mask(acl, name);
  std::uint32_t rights = rights_of_mask(mask);
  if (what == AclOf::kDirectory && (mask & kAceDeleteChild) == 0 && denies_delete(acl))
    rights &= ~2U;
  return rights;
}

Acl inherited_part(const Acl& acl) {
  Acl out;
  for (const Ace& ace : acl.aces) {
    if ((ace.flags & kAceDirInherit) == 0) continue;
    out.aces.push_back(ace);
    out.aces.back().flags = 0;
  }
  return out;
}

}  // namespace

Status check_posix_acl(const PosixAcl& posix) {
  const auto bad = [](const char* why) {
    return fail(ErrorCode::kInvalidArgument, std::string("POSIX ACL: ") + why);
  };
  if (posix.size() > kAcesMax)
    return fail(ErrorCode::kTooLarge,
                "POSIX ACL: more than " + std::to_string(kAcesMax) + " entries");
  if (count(posix, PosixTag::kUserObject) != 1 || count(posix, PosixTag::kGroupObject) != 1 ||
      count(posix, PosixTag::kOther) != 1 || count(posix, PosixTag::kMask) > 1)
    return bad("not one entry each for owner, owning group and others, and at most one mask");
  std::set<std::pair<PosixTag, std::uint32_t>> names;
  for (const PosixEntry& entry : posix) {
    if (!known(entry.tag) || entry.rights > 7) return bad("an unknown tag or right");
    if (is_named(entry.tag) && entry.id == UINT32_MAX) return bad("an id that is none");
    if (is_named(entry.tag) && !names.insert({entry.tag, entry.id}).second)
      return bad("a user or group appears twice");
  }
  if (!names.empty() && count(posix, PosixTag::kMask) == 0) return bad("no mask");
  return {};
}

Acl acl_of_posix(const PosixAcl& posix, AclOf what) {
  const Rights rights(posix);
  std::uint32_t of_groups = rights.other;
  for (const auto& [name, has] : rights.groups) of_groups |= has;
  std::uint32_t of_all = of_groups;
  for (const auto& [name, has] : rights.users) of_all |= has;
  constexpr AclName kOwner{AceWho::kOwner, 0};
  Builder out(what);
  out.allow(kOwner, rights.owner);
  out.deny(kOwner, rights.owner, of_all);
  for (const auto& [name, has] : rights.users) {
    out.allow(name, has);
    out.deny(name, has, of_groups);
  }
  for (const auto& [name, has] : rights.groups) out.allow(name, has);
  for (const auto& [name, has] : rights.groups) out.deny(name, has, rights.other);
  out.allow({AceWho::kEveryone, 0}, rights.other);
  return out.take();
}

Acl inheritable_of_posix(const PosixAcl& posix) {
  Acl acl = acl_of_posix(posix, AclOf::kDirectory);
  for (Ace& ace : acl.aces) ace.flags = kAceFileInherit | kAceDirInherit | kAceInheritOnly;
  return acl;
}

PosixAcl posix_of_acl(const Acl& acl, AclOf what) {
  std::vector<PosixEntry> users;
  std::vector<PosixEntry> groups;
  const std::uint32_t group = shown(acl, {AceWho::kOwningGroup, 0}, what);
  std::uint32_t mask = group;
  for (const AclName& name : named(acl)) {
    const std::uint32_t rights = shown(acl, name, what);
    mask |= rights;
    if (name.who == AceWho::kUser)
      users.push_back({PosixTag::kUser, name.id, rights});
    else
      groups.push_back({PosixTag::kGroup, name.id, rights});
  }
  std::ranges::sort(users, {}, &PosixEntry::id);
  std::ranges::sort(groups, {}, &PosixEntry::id);
  PosixAcl out{{PosixTag::kUserObject, 0, shown(acl, {AceWho::kOwner, 0}, what)}};
  out.insert(out.end(), users.begin(), users.end());
  out.push_back({PosixTag::kGroupObject, 0, group});
  out.insert(out.end(), groups.begin(), groups.end());
  if (out.size() > 2) out.push_back({PosixTag::kMask, 0, mask});
  out.push_back({PosixTag::kOther, 0, shown(acl, {AceWho::kEveryone, 0}, what)});
  return out;
}

PosixAcl inherited_posix_of_acl(const Acl& acl) {
  const Acl part = inherited_part(acl);
  return part.aces.empty() ? PosixAcl() : posix_of_acl(part, AclOf::kDirectory);
}

}  // namespace symnas::fs
