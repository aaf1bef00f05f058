// Inode and directory-times records: decoding what was read, and the attributes a client sees of
// them. Format: docs/formats/filesystem_records.md. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/kv/session.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

inline constexpr std::uint64_t kDirectorySizeBytes = 4096;  // constant (docs/design.md 5.1)
// The value of the inode's key after a change of anything but its access time.
std::string changed_inode(records::Inode inode);
// The mod_revision by which the change attribute counts: recorded access times do not count.
Revision content_revision(const records::Inode& inode, Revision mod_revision);

inline constexpr int kChangeShift = 16;  // change = revision << 16 | n

// An inode that exists, as read at one revision.
struct Node {
  Ino ino;
  records::Inode record;
  Revision mod_revision;

  FileType type() const { return static_cast<FileType>(record.type()); }
  bool is_directory() const { return type() == FileType::kDirectory; }
  bool is_regular() const { return type() == FileType::kRegular; }
};

// A directory with its content times (absent: those of the inode).
struct Directory {
  Node node;
  std::optional<records::DirectoryTimes> times;
  Revision times_mod_revision;  // 0 = never put
};

// Parses the value of a key that must hold a protobuf record; `what` names it in messages. Errors:
// kCorrupt.
template <class Record>
Result<Record> parse_record(std::string_view value, std::string_view what) {
  Record record;
  if (!record.ParseFromArray(value.data(), static_cast<int>(value.size())))
    return fail(ErrorCode::kCorrupt, std::string(what) + ": the stored record cannot be parsed");
  return record;
}

// nullopt when the key does not exist. Errors: kCorrupt (unparsable, or an unknown type).
Result<std::optional<Node>> parse_node(Ino ino, const kv::CachedValue& value);
// Errors: kCorrupt.
Result<Directory> parse_directory(Node node, const kv::CachedValue& times);

// The attributes that a client sees. `block_bytes`: allocation block of the filesystem. A
// directory's attributes need its content times as well.
Attributes attributes_of(FsId fs, const Node& node, std::uint32_t block_bytes);
Attributes attributes_of(FsId fs, const Directory& directory);

}  // namespace symnas::fs
