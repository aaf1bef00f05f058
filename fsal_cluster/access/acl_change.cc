#include "fsal_cluster/access/acl_change.h"

#include <string>
#include <utility>

#include "fsal_cluster/access/acl_mode.h"
#include "fsal_cluster/access/posix_acl.h"
#include "fsal_cluster/schema/acl.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {
namespace {

AclOf kind_of(const records::Inode& inode) {
  return static_cast<FileType>(inode.type()) == FileType::kDirectory ? AclOf::kDirectory
                                                                     : AclOf::kFile;
}

Acl current_acl(const records::Inode& inode) {
  const auto acl = acl_of(inode);
  return acl ? *acl : acl_of_mode(inode.mode() & kPermissionBits, kind_of(inode));
}

// As it may be kept: no unknown bits, and nothing to inherit from what is no directory.
Acl cleaned(const Acl& acl, AclOf what) {
  Acl out;
  for (Ace ace : acl.aces) {
    ace.mask &= kAceMask;
    ace.flags &= kAceFlags;
    if (!ace.is_inheritable() || what == AclOf::kFile) {
      if (!ace.is_effective()) continue;
      ace.flags = 0;
    }
    if (ace.mask != 0) out.aces.push_back(ace);
  }
  return out;
}

void append_effective(const Acl& from, Acl& to) {
  for (const Ace& ace : from.aces) {
    if (!ace.is_effective()) continue;
    to.aces.push_back(ace);
    to.aces.back().flags = 0;
  }
}

void append_inheritable(const Acl& from, Acl& to) {
  for (const Ace& ace : from.aces) {
    if (!ace.is_inheritable()) continue;
    to.aces.push_back(ace);
    to.aces.back().flags |= kAceInheritOnly;
  }
}

Result<Acl> with_posix(const AclChange& change, const records::Inode& inode) {
  const AclOf what = kind_of(inode);
  const bool inherits = change.inherited && !change.inherited->empty();
  if (what == AclOf::kFile && inherits)
    return fail(ErrorCode::kInvalidArgument, "ACL: only directories have a default ACL");
  const bool accesses = change.access && !change.access->empty();
  if (accesses) SYMNAS_TRY(check_posix_acl(*change.access));
  if (inherits) SYMNAS_TRY(check_posix_acl(*change.inherited));
  const Acl before = current_acl(inode);
  Acl acl;
  if (accesses)
    append_effective(acl_of_posix(*change.access, what), acl);
  else
    append_effective(change.access ? acl_of_mode(inode.mode() & kPermissionBits, what) : before,
                     acl);
  if (inherits)
    append_inheritable(inheritable_of_posix(*change.inherited), acl);
  else if (!change.inherited)
    append_inheritable(before, acl);
  return acl;
}

Status keep(Acl acl, records::Inode& inode) {
  const AclOf what = kind_of(inode);
  if (acl.aces.size() > kAcesStoredMax)
    return fail(ErrorCode::kTooLarge,
                "ACL: more than " + std::to_string(kAcesStoredMax) + " entries would be kept");
  const std::uint32_t shown = mode_of(acl);
  inode.set_mode((inode.mode() & ~kPermissionBits) | shown);
  if (only_mode(acl, what))
    put_acl(inode, std::nullopt);
  else
    put_acl(inode, std::move(acl));
  return {};
}

}  // namespace

Status set_acl(const AclChange& change, records::Inode& inode) {
  if (static_cast<FileType>(inode.type()) == FileType::kSymlink)
    return fail(ErrorCode::kNotSupported, "ACL: symbolic links have none");
  if (!change.acl) {
    SYMNAS_ASSIGN(Acl acl, with_posix(change, inode));
    return keep(std::move(acl), inode);
  }
  if (change.acl->aces.size() > kAcesMax)
    return fail(ErrorCode::kTooLarge, "ACL: more than " + std::to_string(kAcesMax) + " entries");
  return keep(cleaned(*change.acl, kind_of(inode)), inode);
}

Status set_mode(std::uint32_t mode, records::Inode& inode) {
  if (const auto acl = acl_of(inode)) {
    SYMNAS_TRY(keep(with_mode(*acl, mode & kPermissionBits, kind_of(inode)), inode));
  }
  inode.set_mode(mode);
  return {};
}

}  // namespace symnas::fs
