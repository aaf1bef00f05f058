#include "fsal_cluster/access/acl_mode.h"

#include <algorithm>
#include <array>
#include <vector>

#include "fsal_cluster/access/acl.h"

namespace symnas::fs {
namespace {

constexpr AclName kOwner{AceWho::kOwner, 0};
constexpr AclName kOwningGroup{AceWho::kOwningGroup, 0};
constexpr AclName kEveryone{AceWho::kEveryone, 0};

// Everything that chmod changes.
constexpr std::uint32_t kRightsMask =
    kAceReadData | kAceWriteData | kAceAppendData | kAceExecute | kAceDeleteChild;

Ace allow(const AclName& name, std::uint32_t mask) {
  return Ace{AceType::kAllow, name.who, name.id, 0, mask};
}
Ace deny(const AclName& name, std::uint32_t mask) {
  return Ace{AceType::kDeny, name.who, name.id, 0, mask};
}
void add(Acl& acl, const Ace& ace) {
  if (ace.mask != 0) acl.aces.push_back(ace);
}

std::vector<AclName> group_class(const Acl& acl) {
  std::vector<AclName> names = named(acl);
  names.push_back(kOwningGroup);
  return names;
}

std::uint32_t group_rights(const Acl& acl) {
  std::uint32_t rights = 0;
  for (const AclName& name : group_class(acl))
    rights |= rights_of_mask(evaluate(acl, name).allowed);
  return rights;
}

// What each name of the group class is to have after chmod.
class GroupClass {
 public:
  GroupClass(const Acl& acl, std::uint32_t rights, AclOf what) {
    const std::uint32_t kept = mask_of_rights(rights, what);
    gained_ = mask_of_rights(rights & ~group_rights(acl), what);
    for (const AclName& name : group_class(acl)) {
      std::uint32_t mask = evaluate(acl, name).allowed & kept;
      if (name == kOwningGroup) mask |= gained_;
      members_.push_back({name, mask});
    }
  }

  struct Member {
    AclName name;
    std::uint32_t mask;
  };
  const std::vector<Member>& members() const { return members_; }
  // What the owning group gets and a named user, who may be in it, does not.
  std::uint32_t not_gained(const Member& member) const {
    return member.name.who == AceWho::kUser ? gained_ & ~member.mask : 0;
  }
  std::uint32_t mask_of(const AclName& name) const {
    const auto it = std::find_if(members_.begin(), members_.end(),
                                 [&](const Member& member) { return member.name == name; });
    return it == members_.end() ? 0 : it->mask;
  }

 private:
  std::uint32_t gained_ = 0;
  std::vector<Member> members_;
};

std::uint32_t mentioned(const Acl& acl, AceType type, const AclName& name) {
  std::uint32_t mask = 0;
  for (const Ace& ace : acl.aces)
    if (ace.is_effective() && ace.type == type && AclName{ace.who, ace.id} == name)
      mask |= ace.mask;
  return mask;
}

// An effective entry without the rights that chmod takes or that others will state.
Ace changed(Ace ace, const GroupClass& group) {
  ace.flags = 0;
  if (ace.who == AceWho::kOwner || ace.who == AceWho::kEveryone) {
    ace.mask &= ~kRightsMask;
    return ace;
  }
  const std::uint32_t has = group.mask_of({ace.who, ace.id});
  ace.mask &= ~kRightsMask | (ace.type == AceType::kAllow ? has : ~has);
  return ace;
}

// Whether rights and the mask agree, and the mask says nothing that a mode does not.
bool is_plain(const AclVerdict& verdict, std::uint32_t rights, bool owner) {
  const auto all_or_none = [&](std::uint32_t bits) {
    return (verdict.allowed & bits) == 0 || (verdict.allowed & bits) == bits;
  };
  const bool writes = (rights & 2) != 0;
  if (!all_or_none(kAceWriteData | kAceAppendData)) return false;
  if (((writes ? verdict.denied : verdict.allowed) & kAceDeleteChild) != 0) return false;
  if (((verdict.allowed | verdict.denied) & kAceDelete) != 0) return false;
  if (owner) return true;
  return (verdict.allowed & kAceReadAcl) != 0 &&
         (verdict.allowed & (kAceWriteAcl | kAceWriteAttributes | kAceWriteOwner)) == 0;
}

}  // namespace

std::uint32_t mask_of_rights(std::uint32_t rights, AclOf what) {
  std::uint32_t mask = 0;
  if ((rights & 4) != 0) mask |= kAceReadData;
  if ((rights & 2) != 0) mask |= kAceWriteData | kAceAppendData;
  if ((rights & 2) != 0 && what == AclOf::kDirectory) mask |= kAceDeleteChild;
  if ((rights & 1) != 0) mask |= kAceExecute;
  return mask;
}

std::uint32_t rights_of_mask(std::uint32_t mask) {
  constexpr std::uint32_t kWrite = kAceWriteData | kAceAppendData;
  std::uint32_t rights = 0;
  if ((mask & kAceReadData) != 0) rights |= 4;
  if ((mask & kWrite) == kWrite) rights |= 2;
  if ((mask & kAceExecute) != 0) rights |= 1;
  return rights;
}

std::uint32_t common_mask(AceWho who) {
  const std::uint32_t common = kAceReadAttributes | kAceReadAcl | kAceSynchronize;
  return who == AceWho::kOwner ? common | kAceWriteAttributes | kAceWriteAcl : common;
}

std::uint32_t mode_of(const Acl& acl) {
  const std::uint32_t owner = rights_of_mask(evaluate(acl, kOwner).allowed);
  const std::uint32_t other = rights_of_mask(evaluate(acl, kEveryone).allowed);
  return owner << 6 | group_rights(acl) << 3 | other;
}

Acl acl_of_mode(std::uint32_t mode, AclOf what) {
  const std::uint32_t owner = mode >> 6 & 7;
  const std::uint32_t group = mode >> 3 & 7;
  const std::uint32_t other = mode & 7;
  Acl acl;
  add(acl, allow(kOwner, mask_of_rights(owner, what) | common_mask(AceWho::kOwner)));
  add(acl, deny(kOwner, mask_of_rights((group | other) & ~owner, what)));
  add(acl, allow(kOwningGroup, mask_of_rights(group, what) | common_mask(AceWho::kOwningGroup)));
  add(acl, deny(kOwningGroup, mask_of_rights(other & ~group, what)));
  add(acl, allow(kEveryone, mask_of_rights(other, what) | common_mask(AceWho::kEveryone)));
  return acl;
}

std::optional<std::uint32_t> only_mode(const Acl& acl, AclOf what) {
  for (const Ace& ace : acl.aces)
    if (ace.is_named() || ace.is_inheritable() || !ace.is_effective()) return std::nullopt;
  if (acl.aces.empty()) return 0;  // nobody may do anything
  const std::uint32_t mode = mode_of(acl);
  // An owner in the owning group, an owner outside it, a member of it, somebody else.
  constexpr FileOwner kFile{1, 1};
  const std::array<Credentials, 4> classes{Credentials{1, 1, {}}, Credentials{1, 2, {}},
                                           Credentials{2, 1, {}}, Credentials{2, 2, {}}};
  constexpr std::array<int, 4> kShifts{6, 6, 3, 0};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::uint32_t rights = mode >> kShifts[i] & 7;
    AclVerdict verdict = evaluate(acl, classes[i], kFile);
    if (what == AclOf::kFile) verdict.allowed &= ~kAceDeleteChild;
    if (rights_of_mask(verdict.allowed) != rights ||
        !is_plain(verdict, rights, classes[i].uid == kFile.uid))
      return std::nullopt;
  }
  return mode;
}

Acl with_mode(const Acl& acl, std::uint32_t mode, AclOf what) {
  const std::uint32_t owner = mode >> 6 & 7;
  const std::uint32_t other = mode & 7;
  const GroupClass group(acl, mode >> 3 & 7, what);
  Acl out;
  add(out, allow(kOwner, mask_of_rights(owner, what)));
  add(out, deny(kOwner, mask_of_rights(~owner & 7, what)));
  for (const auto& member : group.members()) add(out, deny(member.name, group.not_gained(member)));
  for (const Ace& ace : acl.aces) {
    if (!ace.is_effective()) continue;
    Ace stays = changed(ace, group);
    if (stays.is_named())  // what was denied to the name above need not be said again
      stays.mask &= ~mentioned(out, AceType::kDeny, {stays.who, stays.id});
    add(out, stays);
  }
  // What a name had from EVERYONE@ it gets by itself: EVERYONE@ comes last now. First all that is
  // allowed, so that who is in several groups loses nothing.
  const Acl stated = out;
  for (const auto& member : group.members())
    add(out, allow(member.name, member.mask & ~mentioned(stated, AceType::kAllow, member.name)));
  for (const auto& member : group.members())
    add(out, deny(member.name, mask_of_rights(other, what) & ~member.mask &
                                   ~mentioned(stated, AceType::kDeny, member.name)));
  add(out, allow(kEveryone, mask_of_rights(other, what)));
  for (const Ace& ace : acl.aces) {
    if (!ace.is_inheritable()) continue;
    out.aces.push_back(ace);
    out.aces.back().flags |= kAceInheritOnly;
  }
  return out;
}

}  // namespace symnas::fs
