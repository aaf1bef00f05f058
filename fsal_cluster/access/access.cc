#include "fsal_cluster/access/access.h"

#include <algorithm>

#include "fsal_cluster/access/acl.h"
#include "fsal_cluster/schema/acl.h"

namespace symnas::fs {
namespace {

Status denied() { return fail(ErrorCode::kPermission, "permission bits or ACL do not allow it"); }

std::uint32_t ace_mask_of(std::uint32_t wanted) {
  std::uint32_t mask = 0;
  if ((wanted & kMayRead) != 0) mask |= kAceReadData;
  if ((wanted & kMayWrite) != 0) mask |= kAceWriteData;
  if ((wanted & kMayExecute) != 0) mask |= kAceExecute;
  return mask;
}

constexpr std::uint32_t kAlwaysTheOwners =
    kAceReadAcl | kAceWriteAcl | kAceReadAttributes | kAceWriteAttributes;

AclVerdict verdict_of(const Acl& acl, const Credentials& who, const FileOwner& owner) {
  AclVerdict verdict = evaluate(acl, who, owner);
  if (who.uid == owner.uid) {
    verdict.allowed |= kAlwaysTheOwners;
    verdict.denied &= ~kAlwaysTheOwners;
  }
  return verdict;
}

bool anybody_executes(const Acl& acl) {
  return std::ranges::any_of(acl.aces, [](const Ace& ace) {
    return ace.is_effective() && ace.type == AceType::kAllow && (ace.mask & kAceExecute) != 0;
  });
}

FileOwner owner_of(const records::Inode& inode) { return {inode.uid(), inode.gid()}; }

Status check_sticky(const Credentials& who, const records::Inode& directory,
                    const records::Inode& target) {
  if ((directory.mode() & kSticky) == 0) return {};
  if (is_owner(who, directory.uid()) || is_owner(who, target.uid())) return {};
  return fail(ErrorCode::kNotOwner, "sticky directory: only the owner may remove or rename it");
}

// What the ACLs say of DELETE and DELETE_CHILD.
struct DeleteVerdict {
  bool of_target = false;     // allowed
  bool of_directory = false;  // allowed
  bool denied = false;        // by one of them
};

DeleteVerdict delete_verdict(const Credentials& who, const records::Inode& directory,
                             const records::Inode& target) {
  DeleteVerdict out;
  if (const auto acl = acl_of(target)) {
    const AclVerdict verdict = evaluate(*acl, who, owner_of(target));
    out.of_target = (verdict.allowed & kAceDelete) != 0;
    out.denied = (verdict.denied & kAceDelete) != 0;
  }
  if (const auto acl = acl_of(directory)) {
    const AclVerdict verdict = evaluate(*acl, who, owner_of(directory));
    out.of_directory = (verdict.allowed & kAceDeleteChild) != 0;
    out.denied |= (verdict.denied & kAceDeleteChild) != 0;
  } else {  // the right to write it is the right to delete in it, whatever the target's ACL denies
    out.of_directory = permits(who, directory.uid(), directory.gid(), directory.mode(), kMayWrite);
  }
  return out;
}

}  // namespace

bool is_root(const Credentials& who) { return who.uid == 0; }

bool in_group(const Credentials& who, std::uint32_t gid) {
  return who.gid == gid || std::find(who.groups.begin(), who.groups.end(), gid) != who.groups.end();
}

bool is_owner(const Credentials& who, std::uint32_t uid) { return is_root(who) || who.uid == uid; }

bool permits(const Credentials& who, std::uint32_t uid, std::uint32_t gid, std::uint32_t mode,
             std::uint32_t wanted) {
  if (is_root(who)) return true;
  std::uint32_t granted = mode;  // others
  if (who.uid == uid)
    granted = mode >> 6;
  else if (in_group(who, gid))
    granted = mode >> 3;
  return (granted & wanted) == wanted;
}

Status check_access(const Credentials& who, const Attributes& attributes, std::uint32_t wanted) {
  if (attributes.acl && !is_root(who)) {
    const std::uint32_t mask = ace_mask_of(wanted);
    const AclVerdict verdict =
        evaluate(*attributes.acl, who, FileOwner{attributes.uid, attributes.gid});
    return (verdict.allowed & mask) == mask ? Status() : denied();
  }
  return permits(who, attributes.uid, attributes.gid, attributes.mode, wanted) ? Status()
                                                                               : denied();
}

Status check_access(const Credentials& who, const records::Inode& inode, std::uint32_t wanted) {
  if (inode.has_acl())
    return is_root(who) || acl_grants(who, inode, ace_mask_of(wanted)) ? Status() : denied();
  return permits(who, inode.uid(), inode.gid(), inode.mode(), wanted) ? Status() : denied();
}

Status check_add(const Credentials& who, const records::Inode& directory, FileType type) {
  if (!directory.has_acl() || is_root(who))
    return check_access(who, directory, kMayWrite | kMayExecute);
  const std::uint32_t add = type == FileType::kDirectory ? kAceAppendData : kAceWriteData;
  return acl_grants(who, directory, add | kAceExecute) ? Status() : denied();
}

std::uint32_t granted_by_acl(const Credentials& who, const Attributes& attributes,
                             std::uint32_t wanted) {
  const bool directory = attributes.type == FileType::kDirectory;
  if (is_root(who))
    return directory || anybody_executes(*attributes.acl) ? wanted : wanted & ~kAceExecute;
  AclVerdict verdict = verdict_of(*attributes.acl, who, FileOwner{attributes.uid, attributes.gid});
  const bool decided = ((verdict.allowed | verdict.denied) & kAceDeleteChild) != 0;
  if (directory && !decided && (verdict.allowed & kAceWriteData) != 0)
    verdict.allowed |= kAceDeleteChild;
  return verdict.allowed & wanted;
}

bool acl_grants(const Credentials& who, const records::Inode& inode, std::uint32_t wanted) {
  const auto acl = acl_of(inode);
  return acl && (verdict_of(*acl, who, owner_of(inode)).allowed & wanted) == wanted;
}

Status check_delete(const Credentials& who, const records::Inode& directory,
                    const records::Inode& target) {
  if (is_root(who)) return {};
  if (!directory.has_acl() && !target.has_acl()) {
    SYMNAS_TRY(check_access(who, directory, kMayWrite | kMayExecute));
    return check_sticky(who, directory, target);
  }
  SYMNAS_TRY(check_access(who, directory, kMayExecute));
  const DeleteVerdict verdict = delete_verdict(who, directory, target);
  if (verdict.of_target) return {};
  if (!verdict.of_directory) {
    if (verdict.denied) return denied();
    SYMNAS_TRY(check_access(who, directory, kMayWrite));
  }
  return check_sticky(who, directory, target);
}

std::uint32_t without_privilege_bits(std::uint32_t mode) {
  mode &= ~kSetUid;
  if ((mode & kGroupExecute) != 0) mode &= ~kSetGid;
  return mode;
}

}  // namespace symnas::fs
