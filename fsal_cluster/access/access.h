// Access: who may do what. A file with an ACL is judged by it (acl.h), any other one by its
// permission bits, as Linux' VFS applies them (fs/namei.c, fs/attr.c). Thread-safe: pure functions.
// EACCES is kPermission (ACL or bits say no), EPERM is kNotOwner (only the owner or root may,
// whatever the bits say).
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

inline constexpr std::uint32_t kMayRead = 4;
inline constexpr std::uint32_t kMayWrite = 2;
inline constexpr std::uint32_t kMayExecute = 1;  // directories: search

inline constexpr std::uint32_t kModeBits = 07777;
inline constexpr std::uint32_t kSetUid = 04000;
inline constexpr std::uint32_t kSetGid = 02000;
inline constexpr std::uint32_t kSticky = 01000;
inline constexpr std::uint32_t kGroupExecute = 00010;

bool is_root(const Credentials& who);
bool in_group(const Credentials& who, std::uint32_t gid);
// Whether `who` is root, or the owner.
bool is_owner(const Credentials& who, std::uint32_t uid);

// `wanted`: kMay... bits, all of them needed. Root passes.
bool permits(const Credentials& who, std::uint32_t uid, std::uint32_t gid, std::uint32_t mode,
             std::uint32_t wanted);
// Errors: kPermission. With an ACL read is READ_DATA, write WRITE_DATA (of a directory: to add or
// remove a file), execute EXECUTE.
Status check_access(const Credentials& who, const Attributes& attributes, std::uint32_t wanted);
Status check_access(const Credentials& who, const records::Inode& inode, std::uint32_t wanted);
// Checks that `who` may add a name: write and search; with an ACL ADD_SUBDIRECTORY for a directory,
// else ADD_FILE, and EXECUTE. Errors: kPermission.
Status check_add(const Credentials& who, const records::Inode& directory, FileType type);
// Which of `wanted` (kAce... bits) an ACL gives: all to root, READ_ACL, WRITE_ACL, READ_ATTRIBUTES
// and WRITE_ATTRIBUTES to the owner, DELETE_CHILD also to those who may add files and to whom it is
// not denied (RFC 8881 6.2.1.3.2). Root may execute a file that somebody may execute.
// REQUIRES: attributes.acl.
std::uint32_t granted_by_acl(const Credentials& who, const Attributes& attributes,
                             std::uint32_t wanted);
// Whether the inode has an ACL, and all bits (kAce...) are in it.
bool acl_grants(const Credentials& who, const records::Inode& inode, std::uint32_t wanted);
// Checks that `who` may remove or rename a name in the directory. By permission bits: needs write
// and search there; in a sticky directory only root and the owners of the directory and of the file
// may. With ACLs also who has DELETE of the file, even in a sticky directory, and who has
// DELETE_CHILD of the directory (RFC 8881 6.2.1.3.2). Errors: kPermission, kNotOwner.
Status check_delete(const Credentials& who, const records::Inode& directory,
                    const records::Inode& target);

// Mode bits of a file (no directory) after somebody without privilege has changed its owner or
// content: setuid is cleared, and setgid where it means "run as group" (with group execute).
std::uint32_t without_privilege_bits(std::uint32_t mode);

}  // namespace symnas::fs
