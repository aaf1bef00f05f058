#include "fsal_cluster/access/access.h"

#include <algorithm>

namespace symnas::fs {
namespace {

Status denied() { return fail(ErrorCode::kPermission, "permission bits do not allow it"); }

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
  return permits(who, attributes.uid, attributes.gid, attributes.mode, wanted) ? Status()
                                                                               : denied();
}

Status check_access(const Credentials& who, const records::Inode& inode, std::uint32_t wanted) {
  return permits(who, inode.uid(), inode.gid(), inode.mode(), wanted) ? Status() : denied();
}

Status check_delete(const Credentials& who, const records::Inode& directory,
                    const records::Inode& target) {
  SYMNAS_TRY(check_access(who, directory, kMayWrite | kMayExecute));
  if ((directory.mode() & kSticky) == 0) return {};
  if (is_owner(who, directory.uid()) || is_owner(who, target.uid())) return {};
  return fail(ErrorCode::kNotOwner, "sticky directory: only the owner may remove or rename it");
}

std::uint32_t without_privilege_bits(std::uint32_t mode) {
  mode &= ~kSetUid;
  if ((mode & kGroupExecute) != 0) mode &= ~kSetGid;
  return mode;
}

}  // namespace symnas::fs
