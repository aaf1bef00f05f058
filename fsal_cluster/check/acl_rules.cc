#include "fsal_cluster/check/acl_rules.h"

#include <utility>

#include <fmt/core.h>

#include "fsal_cluster/types/acl.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs::check {
namespace {

using Who = records::Ace::Who;

bool is_named(const records::Ace& ace) {
  return ace.who() == records::Ace::USER || ace.who() == records::Ace::GROUP;
}

bool is_sound(const records::Ace& ace, bool directory) {
  const std::uint32_t inherits = kAceFileInherit | kAceDirInherit;
  return records::Ace::Type_IsValid(ace.type()) && records::Ace::Who_IsValid(ace.who()) &&
         ace.mask() != 0 && (ace.mask() & ~kAceMask) == 0 &&
         (ace.flags() & ~(directory ? kAceFlags : 0)) == 0 &&
         ((ace.flags() & inherits) != 0 || ace.flags() == 0) && (is_named(ace) || ace.id() == 0);
}

// The rights of one name, from its entries and those of everyone.
std::uint32_t rights(const records::Acl& acl, Who who, std::uint32_t id) {
  std::uint32_t allowed = 0;
  std::uint32_t decided = 0;
  for (const records::Ace& ace : acl.aces()) {
    const bool counts = ace.who() == records::Ace::EVERYONE || (ace.who() == who && ace.id() == id);
    if ((ace.flags() & kAceInheritOnly) != 0 || !counts) continue;
    if (ace.type() == records::Ace::ALLOW) allowed |= ace.mask() & ~decided;
    decided |= ace.mask();
  }
  const std::uint32_t write = kAceWriteData | kAceAppendData;
  return ((allowed & kAceReadData) != 0 ? 4u : 0u) | ((allowed & write) == write ? 2u : 0u) |
         ((allowed & kAceExecute) != 0 ? 1u : 0u);
}

std::uint32_t shown_mode(const records::Acl& acl) {
  std::uint32_t group = rights(acl, records::Ace::OWNING_GROUP, 0);
  for (const records::Ace& ace : acl.aces())
    if (is_named(ace) && (ace.flags() & kAceInheritOnly) == 0)
      group |= rights(acl, ace.who(), ace.id());
  return rights(acl, records::Ace::OWNER, 0) << 6 | group << 3 |
         rights(acl, records::Ace::EVERYONE, 0);
}

}  // namespace

std::optional<std::string> acl_problem(const records::Inode& inode) {
  if (!inode.has_acl()) return std::nullopt;
  const auto type = static_cast<FileType>(inode.type());
  if (type == FileType::kSymlink) return "a symlink that has an ACL";
  const int entries = inode.acl().aces_size();
  if (entries == 0 || static_cast<std::size_t>(entries) > kAcesStoredMax)
    return fmt::format("has an ACL of {} entries", entries);
  for (int i = 0; i < entries; ++i)
    if (!is_sound(inode.acl().aces(i), type == FileType::kDirectory))
      return fmt::format("entry {} of its ACL says what no operation writes", i + 1);
  const std::uint32_t shown = shown_mode(inode.acl());
  if ((inode.mode() & 0777) == shown) return std::nullopt;
  return fmt::format("has mode {:o}, its ACL says {:o}", inode.mode() & 0777, shown);
}

}  // namespace symnas::fs::check
