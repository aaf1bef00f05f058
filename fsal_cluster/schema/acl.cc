#include "fsal_cluster/schema/acl.h"

namespace symnas::fs {
namespace {

Ace ace_of(const records::Ace& in) {
  Ace ace;
  ace.flags = in.flags() & kAceFlags;
  ace.mask = in.mask();
  const bool known = records::Ace::Type_IsValid(in.type()) && records::Ace::Who_IsValid(in.who());
  ace.type = known ? static_cast<AceType>(in.type()) : AceType::kDeny;
  ace.who = known ? static_cast<AceWho>(in.who()) : AceWho::kEveryone;
  ace.id = ace.is_named() ? in.id() : 0;
  return ace;
}

}  // namespace

std::shared_ptr<const Acl> acl_of(const records::Inode& inode) {
  if (!inode.has_acl()) return nullptr;
  auto acl = std::make_shared<Acl>();
  acl->aces.reserve(static_cast<std::size_t>(inode.acl().aces_size()));
  for (const records::Ace& ace : inode.acl().aces()) acl->aces.push_back(ace_of(ace));
  return acl;
}

void put_acl(records::Inode& inode, const std::optional<Acl>& acl) {
  inode.clear_acl();
  if (!acl) return;
  records::Acl& out = *inode.mutable_acl();
  for (const Ace& ace : acl->aces) {
    records::Ace& entry = *out.add_aces();
    entry.set_type(static_cast<records::Ace::Type>(ace.type));
    entry.set_who(static_cast<records::Ace::Who>(ace.who));
    entry.set_id(ace.id);
    entry.set_flags(ace.flags);
    entry.set_mask(ace.mask);
  }
}

}  // namespace symnas::fs
