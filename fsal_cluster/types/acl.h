// Access control lists of files, as NFSv4 (RFC 8881 section 6.2.1) and as POSIX 1003.1e draft 17
// see them. Value types.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace symnas::fs {

enum class AceType : std::uint8_t { kAllow = 0, kDeny = 1 };
// Whom an entry means: OWNER@, GROUP@ and EVERYONE@, or the user or group `id`.
enum class AceWho : std::uint8_t {
  kUser = 0,
  kGroup = 1,
  kOwner = 2,
  kOwningGroup = 3,
  kEveryone = 4,
};

// Flags (RFC 8881 6.2.1.4). Others are not kept.
inline constexpr std::uint32_t kAceFileInherit = 1;
inline constexpr std::uint32_t kAceDirInherit = 2;
inline constexpr std::uint32_t kAceNoPropagate = 4;
inline constexpr std::uint32_t kAceInheritOnly = 8;
inline constexpr std::uint32_t kAceFlags = 0xf;

// Access mask (RFC 8881 6.2.1.3). Of two names for one bit the second one is for directories.
inline constexpr std::uint32_t kAceReadData = 0x1;    // list
inline constexpr std::uint32_t kAceWriteData = 0x2;   // add a file
inline constexpr std::uint32_t kAceAppendData = 0x4;  // add a subdirectory
inline constexpr std::uint32_t kAceReadNamed = 0x8;
inline constexpr std::uint32_t kAceWriteNamed = 0x10;
inline constexpr std::uint32_t kAceExecute = 0x20;  // search
inline constexpr std::uint32_t kAceDeleteChild = 0x40;
inline constexpr std::uint32_t kAceReadAttributes = 0x80;
inline constexpr std::uint32_t kAceWriteAttributes = 0x100;
inline constexpr std::uint32_t kAceDelete = 0x10000;
inline constexpr std::uint32_t kAceReadAcl = 0x20000;
inline constexpr std::uint32_t kAceWriteAcl = 0x40000;
inline constexpr std::uint32_t kAceWriteOwner = 0x80000;
inline constexpr std::uint32_t kAceSynchronize = 0x100000;
inline constexpr std::uint32_t kAceMask = 0x1f01ff;  // all of them

struct Ace {
  AceType type = AceType::kAllow;
  AceWho who = AceWho::kEveryone;
  std::uint32_t id = 0;  // of kUser and kGroup; else 0
  std::uint32_t flags = 0;
  std::uint32_t mask = 0;

  bool is_inheritable() const { return (flags & (kAceFileInherit | kAceDirInherit)) != 0; }
  bool is_effective() const { return (flags & kAceInheritOnly) == 0; }
  bool is_named() const { return who == AceWho::kUser || who == AceWho::kGroup; }
  friend bool operator==(const Ace&, const Ace&) = default;
};

struct Acl {
  std::vector<Ace> aces;  // the first entry that mentions a bit decides it
  friend bool operator==(const Acl&, const Acl&) = default;
};

// As many entries may a client set. Inheritance and chmod split entries: up to kAcesStoredMax are
// kept. An entry takes about 16 bytes of the inode's record.
inline constexpr std::size_t kAcesMax = 256;
inline constexpr std::size_t kAcesStoredMax = 4 * kAcesMax;

// Tags of POSIX entries, with their numbers in NFSACL and in Linux' attributes.
enum class PosixTag : std::uint32_t {
  kUserObject = 0x01,
  kUser = 0x02,
  kGroupObject = 0x04,
  kGroup = 0x08,
  kMask = 0x10,
  kOther = 0x20,
};
struct PosixEntry {
  PosixTag tag = PosixTag::kOther;
  std::uint32_t id = 0;      // of kUser and kGroup; else 0
  std::uint32_t rights = 0;  // 4 read, 2 write, 1 execute or search
  friend bool operator==(const PosixEntry&, const PosixEntry&) = default;
};
using PosixAcl = std::vector<PosixEntry>;

// What a client sets: an NFSv4 ACL, or one or both of a file's POSIX ACLs. What is not set stays.
struct AclChange {
  std::optional<Acl> acl;
  std::optional<PosixAcl> access;     // empty: what the mode says
  std::optional<PosixAcl> inherited;  // the default ACL of a directory; empty: none any more
};

}  // namespace symnas::fs
