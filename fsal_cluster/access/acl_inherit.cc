#include "fsal_cluster/access/acl_inherit.h"

#include <utility>

namespace symnas::fs {
namespace {

void inherit_by_file(const Ace& ace, Acl& effective) {
  if ((ace.flags & kAceFileInherit) == 0) return;
  effective.aces.push_back(ace);
  effective.aces.back().flags = 0;
}

void inherit_by_directory(const Ace& ace, Acl& effective, Acl& later) {
  if ((ace.flags & kAceDirInherit) != 0) {
    effective.aces.push_back(ace);
    effective.aces.back().flags = 0;
  }
  if (!ace.is_inheritable() || (ace.flags & kAceNoPropagate) != 0) return;
  later.aces.push_back(ace);
  later.aces.back().flags |= kAceInheritOnly;
}

}  // namespace

std::optional<Inherited> inherit(const Acl& directory, AclOf what,
                                 const std::optional<std::uint32_t>& mode) {
  Acl effective;
  Acl later;
  for (const Ace& ace : directory.aces) {
    if (what == AclOf::kFile)
      inherit_by_file(ace, effective);
    else
      inherit_by_directory(ace, effective, later);
  }
  if (effective.aces.empty() && later.aces.empty()) return std::nullopt;
  const std::uint32_t wanted = mode.value_or(kPermissionBits) & kPermissionBits;
  if (effective.aces.empty()) {
    if (!mode) return std::nullopt;
    effective = acl_of_mode(wanted, what);
  }
  Inherited out;
  out.mode = mode_of(effective) & wanted;
  if (out.mode != mode_of(effective)) effective = with_mode(effective, out.mode, what);
  effective.aces.insert(effective.aces.end(), later.aces.begin(), later.aces.end());
  if (!only_mode(effective, what)) out.acl = std::move(effective);
  return out;
}

}  // namespace symnas::fs
