#include "fsal_cluster/plugin/acl.h"

#include <vector>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/access/acl_mode.h"
#include "fsal_cluster/access/posix_acl.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/object.h"

namespace symnas::plugin {
namespace {

using fs::Ace;
using fs::AceWho;

fsal_acl_t* to_fsal_acl(const std::vector<fsal_ace_t>& aces) {
  if (aces.empty()) return nullptr;
  fsal_acl_data_t data{};
  data.naces = static_cast<std::uint32_t>(aces.size());
  data.aces = nfs4_ace_alloc(static_cast<int>(aces.size()));
  std::copy(aces.begin(), aces.end(), data.aces);
  fsal_acl_status_t status = 0;
  return nfs4_acl_new_entry(&data, &status);  // takes the entries
}

void set_who(fsal_ace_t& out, AceWho who, std::uint32_t id) {
  const auto special = [&out](std::uint32_t number) {
    out.iflag = FSAL_ACE_IFLAG_SPECIAL_ID;
    out.who.uid = number;
  };
  switch (who) {
    case AceWho::kUser: out.who.uid = id; break;
    case AceWho::kGroup:
      out.flag |= FSAL_ACE_FLAG_GROUP_ID;
      out.who.gid = id;
      break;
    case AceWho::kOwner: special(FSAL_ACE_SPECIAL_OWNER); break;
    case AceWho::kOwningGroup:
      special(FSAL_ACE_SPECIAL_GROUP);
      out.flag |= FSAL_ACE_FLAG_GROUP_ID;
      break;
    case AceWho::kEveryone: special(FSAL_ACE_SPECIAL_EVERYONE); break;
  }
}

std::vector<fsal_ace_t> shown_aces(const fs::Acl& acl) {
  std::vector<fsal_ace_t> out;
  for (const Ace& ace : acl.aces) {
    fsal_ace_t entry{};
    entry.type = static_cast<fsal_acetype_t>(ace.type);
    entry.flag = ace.flags;
    entry.perm = ace.mask;
    set_who(entry, ace.who, ace.id);
    out.push_back(entry);
  }
  return out;
}

void add_posix(std::vector<fsal_ace_t>& out, const fs::PosixAcl& acl, fsal_aceflag_t iflag) {
  for (const fs::PosixEntry& entry : acl) {
    fsal_ace_t ace{};
    ace.type = static_cast<fsal_acetype_t>(entry.tag);
    ace.perm = entry.rights;
    ace.who.uid = entry.id;
    ace.iflag = iflag;
    out.push_back(ace);
  }
}

AceWho who_of(const fsal_ace_t& ace) {
  if ((ace.iflag & FSAL_ACE_IFLAG_SPECIAL_ID) == 0)
    return (ace.flag & FSAL_ACE_FLAG_GROUP_ID) != 0 ? AceWho::kGroup : AceWho::kUser;
  switch (ace.who.uid) {
    case FSAL_ACE_SPECIAL_OWNER: return AceWho::kOwner;
    case FSAL_ACE_SPECIAL_GROUP: return AceWho::kOwningGroup;
    default: return AceWho::kEveryone;
  }
}

Result<fs::Acl> nfs4_acl_of(const fsal_acl_t* in) {
  fs::Acl acl;
  for (std::uint32_t i = 0; in != nullptr && i < in->naces; ++i) {
    const fsal_ace_t& entry = in->aces[i];
    if (entry.type != FSAL_ACE_TYPE_ALLOW && entry.type != FSAL_ACE_TYPE_DENY)
      return fail(ErrorCode::kNotSupported, "ACL: an entry of a type that is not supported");
    Ace ace;
    ace.type = entry.type == FSAL_ACE_TYPE_ALLOW ? fs::AceType::kAllow : fs::AceType::kDeny;
    ace.who = who_of(entry);
    if (ace.is_named()) ace.id = entry.who.uid;
    ace.flags = entry.flag & fs::kAceFlags;
    ace.mask = entry.perm & fs::kAceMask;
    acl.aces.push_back(ace);
  }
  return acl;
}

fs::PosixAcl posix_acl_of(const fsal_acl_t* in, fsal_aceflag_t iflag) {
  fs::PosixAcl out;
  for (std::uint32_t i = 0; in != nullptr && i < in->naces; ++i) {
    const fsal_ace_t& entry = in->aces[i];
    if (entry.iflag != iflag) continue;
    // Linux adds a mask to an ACL that has none, and Solaris sets more bits there.
    const auto tag = static_cast<fs::PosixTag>(entry.type);
    const std::uint32_t rights = tag == fs::PosixTag::kMask ? entry.perm & 7 : entry.perm;
    out.push_back({tag, entry.who.uid, rights});
  }
  return out;
}

constexpr fsal_aceflag_t kAccess = FSAL_ACE_IFLAG_POSIX;
constexpr fsal_aceflag_t kDefault = FSAL_ACE_IFLAG_POSIX | FSAL_ACE_IFLAG_POSIX_DEFAULT;

// What ganesha calls a right of the mode.
std::uint32_t mode_rights(fsal_accessflags_t access) {
  std::uint32_t rights = 0;
  if ((access & FSAL_R_OK) != 0) rights |= fs::kMayRead;
  if ((access & FSAL_W_OK) != 0) rights |= fs::kMayWrite;
  if ((access & FSAL_X_OK) != 0) rights |= fs::kMayExecute;
  return rights;
}

std::uint32_t mode_flags(std::uint32_t rights) {
  std::uint32_t flags = 0;
  if ((rights & fs::kMayRead) != 0) flags |= FSAL_R_OK;
  if ((rights & fs::kMayWrite) != 0) flags |= FSAL_W_OK;
  if ((rights & fs::kMayExecute) != 0) flags |= FSAL_X_OK;
  return flags;
}

// By the mode. Root may execute a file that somebody may execute, as in Linux.
std::uint32_t granted_by_mode(const fs::Credentials& who, const fs::Attributes& attributes,
                              std::uint32_t rights) {
  std::uint32_t granted = 0;
  for (const std::uint32_t right : {fs::kMayRead, fs::kMayWrite, fs::kMayExecute})
    if (fs::permits(who, attributes.uid, attributes.gid, attributes.mode, right)) granted |= right;
  if (fs::is_root(who) && attributes.type != fs::FileType::kDirectory &&
      (attributes.mode & 0111) == 0)
    granted &= ~fs::kMayExecute;
  return granted & rights;
}

// Rights of the mode that the ACL gives.
std::uint32_t rights_by_acl(const fs::Credentials& who, const fs::Attributes& attributes,
                            std::uint32_t rights) {
  std::uint32_t mask = 0;
  if ((rights & fs::kMayRead) != 0) mask |= fs::kAceReadData;
  if ((rights & fs::kMayWrite) != 0) mask |= fs::kAceWriteData | fs::kAceAppendData;
  if ((rights & fs::kMayExecute) != 0) mask |= fs::kAceExecute;
  return fs::rights_of_mask(fs::granted_by_acl(who, attributes, mask));
}

struct Judgement {
  std::uint32_t wanted = 0;
  std::uint32_t granted = 0;
};

Judgement judge(const fs::Credentials& who, const fs::Attributes& attributes,
                fsal_accessflags_t access) {
  const std::uint32_t rights = mode_rights(access);
  if (!attributes.acl)
    return {mode_flags(rights), mode_flags(granted_by_mode(who, attributes, rights))};
  if (!IS_FSAL_ACE4_MASK_VALID(access))
    return {mode_flags(rights), mode_flags(rights_by_acl(who, attributes, rights))};
  const std::uint32_t wanted = access & fs::kAceMask;
  return {wanted, fs::granted_by_acl(who, attributes, wanted)};
}

fsal_status_t answer(const Judgement& judged, fsal_accessflags_t* allowed,
                     fsal_accessflags_t* denied) {
  const std::uint32_t missing = judged.wanted & ~judged.granted;
  if (allowed != nullptr) *allowed = static_cast<fsal_accessflags_t>(judged.granted);
  if (denied != nullptr) *denied = static_cast<fsal_accessflags_t>(missing);
  if (missing == 0) return fsalstat(ERR_FSAL_NO_ERROR, 0);
  constexpr std::uint32_t kOwners = fs::kAceWriteAttributes | fs::kAceWriteAcl | fs::kAceWriteOwner;
  const bool owners = (judged.wanted & FSAL_MODE_BIT_MASK) == 0 && (missing & kOwners) != 0;
  return owners ? fsalstat(ERR_FSAL_PERM, 0) : fsalstat(ERR_FSAL_ACCESS, 0);
}

}  // namespace

void fill_acl(fsal_attrlist* out, const fs::Attributes& attributes) {
  if ((out->request_mask & (ATTR_ACL | ATTR_POSIX_ACL)) == 0) return;
  const auto what =
      attributes.type == fs::FileType::kDirectory ? fs::AclOf::kDirectory : fs::AclOf::kFile;
  if ((out->request_mask & ATTR_POSIX_ACL) != 0) {
    std::vector<fsal_ace_t> aces;
    const fs::Acl of_mode = fs::acl_of_mode(attributes.mode & fs::kPermissionBits, what);
    const fs::Acl& acl = attributes.acl ? *attributes.acl : of_mode;
    add_posix(aces, fs::posix_of_acl(acl, what), kAccess);
    if (what == fs::AclOf::kDirectory) add_posix(aces, fs::inherited_posix_of_acl(acl), kDefault);
    out->acl = to_fsal_acl(aces);
    out->valid_mask |= ATTR_ACL | ATTR_POSIX_ACL;
    return;
  }
  // Without an ACL ganesha shows one that it makes of the mode.
  if (attributes.acl) out->acl = to_fsal_acl(shown_aces(*attributes.acl));
  out->valid_mask |= ATTR_ACL;
}

Result<std::shared_ptr<const fs::AclChange>> to_acl_change(const fsal_attrlist& in) {
  if ((in.valid_mask & ATTR_ACL) == 0) return std::shared_ptr<const fs::AclChange>();
  auto change = std::make_shared<fs::AclChange>();
  if ((in.valid_mask & ATTR_POSIX_ACL) != 0) change->access = posix_acl_of(in.acl, kAccess);
  if ((in.valid_mask & ATTR_POSIX_DEFAULT_ACL) != 0)
    change->inherited = posix_acl_of(in.acl, kDefault);
  if (!change->access && !change->inherited) {
    SYMNAS_ASSIGN(change->acl, nfs4_acl_of(in.acl));
  }
  return std::shared_ptr<const fs::AclChange>(std::move(change));
}

fsal_status_t test_access(fsal_obj_handle* handle, fsal_accessflags_t access,
                          fsal_accessflags_t* allowed, fsal_accessflags_t* denied,
                          bool owner_skip) {
  const Object* object = object_of(handle);
  const auto judged = [&](const Result<fs::Attributes>& attributes) {
    if (!attributes) return failed(attributes);
    const fs::Credentials who = caller();
    if (owner_skip && who.uid == attributes->uid) return ok_status();
    return answer(judge(who, *attributes, access), allowed, denied);
  };
  return contained([&] {
    // Every READ and WRITE comes here, too: a permit is taken only when etcd has to be asked.
    const auto freshness = freshness_of_request();
    if (const auto known = object->mount->getattr_from_cache(object->handle, freshness))
      return judged(*known);
    return guarded([&] { return judged(object->mount->getattr(object->handle)); });
  });
}

}  // namespace symnas::plugin
