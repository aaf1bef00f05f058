// Types shared by the operations of the cluster filesystem and the plugin. Value types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "fsal_cluster/types/share_mode.h"

namespace symnas::fs {

struct Acl;        // types/acl.h
struct AclChange;  // types/acl.h

inline constexpr Ino kRootIno{1};
inline constexpr std::size_t kNameBytesMax =
    255;  // as every Linux filesystem; longer: kNameTooLong
inline constexpr std::size_t kSymlinkBytesMax = 4095;  // PATH_MAX - 1
inline constexpr std::uint32_t kLinkMax = 65000;
inline constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 46;  // 64 TiB

enum class FileType : std::uint8_t {
  kRegular = 1,
  kDirectory = 2,
  kSymlink = 3,
  kBlockDevice = 4,
  kCharDevice = 5,
  kFifo = 6,
  kSocket = 7,
};

// The file handle that a client holds: valid for ever or ESTALE. Wire form: schema/handle.h.
struct Handle {
  FsId fs;
  Ino ino;
  Generation generation;
  friend bool operator==(const Handle&, const Handle&) = default;
};

// The caller of a request, after squashing. uid 0 passes every permission check.
struct Credentials {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
};

// Which changes the answered attributes must show. kStrict: every change that was acknowledged to
// any client before the question. kApplied: those that this mount has heard of.
enum class Freshness : std::uint8_t { kStrict, kApplied };

struct Attributes {
  Handle handle;
  FileType type = FileType::kRegular;
  std::uint32_t mode = 0;  // permission bits 07777
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t nlink = 1;  // directories: constant 1, as btrfs (docs/design.md 5.1)
  std::uint64_t size_bytes = 0;
  std::uint64_t space_used_bytes = 0;
  std::uint32_t rdev_major = 0;
  std::uint32_t rdev_minor = 0;
  std::int64_t atime_ns = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t change = 0;  // (revision of the last change << 16) | n
  std::optional<std::uint64_t> exclusive_verifier;
  std::shared_ptr<const Acl> acl;  // null: the mode says everything
};

struct SetAttributes {
  std::optional<std::uint32_t> mode;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<std::uint64_t> size_bytes;
  std::optional<std::int64_t> atime_ns;  // kServerTime = filesystem time
  std::optional<std::int64_t> mtime_ns;
  std::shared_ptr<const AclChange> acl;  // null: stays, or is inherited by a new file
};
inline constexpr std::int64_t kServerTime = INT64_MIN;

// The parent directory before and after one change; `pre` is absent when the state just before the
// change is not known (docs/design.md 5.2).
struct DirectoryChange {
  std::optional<Attributes> pre;
  std::optional<Attributes> post;
};

enum class CreateMode { kUnchecked, kGuarded, kExclusive };

struct NewNode {
  FileType type = FileType::kRegular;
  SetAttributes attributes;  // mode wanted; uid/gid default to the credentials (gid: the parent's
                             // with setgid)
  std::uint32_t rdev_major = 0;
  std::uint32_t rdev_minor = 0;
  std::string symlink_target;
  // The open with which a regular file is made (CREATE with kGuarded, ...): both or neither happen.
  std::optional<ShareMode> open;
};

struct Created {
  Attributes attributes;
  bool existed =
      false;  // kUnchecked met an existing regular file, or kExclusive met its own verifier
  bool opened = false;  // NewNode::open is counted: always, if the file was made
  DirectoryChange directory;
};

struct DirectoryEntry {
  std::string name;
  std::uint64_t cookie = 0;
  Attributes attributes;
};
struct DirectoryPage {
  std::vector<DirectoryEntry> entries;  // ascending cookie
  bool end_of_directory = false;
};

// SETXATTR's option (RFC 8276 8.4.2).
enum class XattrOption { kEither, kCreate, kReplace };
// A name without "user.", and the cookie from which a list goes on after it.
struct XattrName {
  std::string name;
  std::uint64_t cookie = 0;
};

struct SpaceUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t total_files = 0;
  std::uint64_t free_files = 0;
};

}  // namespace symnas::fs
