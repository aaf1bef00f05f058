// Access: who may do what, by POSIX permission bits as Linux' VFS applies them (fs/namei.c,
// fs/attr.c). Thread-safe: pure functions. EACCES is kPermission (the bits say no), EPERM is
// kNotOwner (only the owner or root may, whatever the bits say).
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
// Errors: kPermission.
Status check_access(const Credentials& who, const Attributes& attributes, std::uint32_t wanted);
Status check_access(const Credentials& who, const records::Inode& inode, std::uint32_t wanted);
// Checks that `who` may remove or rename a name in the directory: needs write and search there; in
// a sticky directory only root and the owners of the directory and of the file may. Errors:
// kPermission, kNotOwner.
Status check_delete(const Credentials& who, const records::Inode& directory,
                    const records::Inode& target);

// Mode bits of a file (no directory) after somebody without privilege has changed its owner or
// content: setuid is cleared, and setgid where it means "run as group" (with group execute).
std::uint32_t without_privilege_bits(std::uint32_t mode);

}  // namespace symnas::fs
