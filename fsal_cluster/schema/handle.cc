#include "fsal_cluster/schema/handle.h"

#include "common/base/bytes.h"

namespace symnas::fs {
namespace {

constexpr char kVersion = 1;
constexpr char kKindInode = 1;
constexpr std::size_t kFsIdAt = 2;
constexpr std::size_t kInoAt = 6;
constexpr std::size_t kGenerationAt = 14;
constexpr std::size_t kCrcAt = 22;

}  // namespace

std::string encode_handle(const Handle& handle) {
  std::string out;
  out.reserve(kHandleBytes);
  out.push_back(kVersion);
  out.push_back(kKindInode);
  append_be32(out, handle.fs.value());
  append_be64(out, handle.ino.value());
  append_be64(out, handle.generation.value());
  append_be32(out, crc32c(std::string_view(out)));
  return out;
}

Result<Handle> decode_handle(std::string_view bytes, FsId expected) {
  if (bytes.size() != kHandleBytes || bytes[0] != kVersion || bytes[1] != kKindInode)
    return fail(ErrorCode::kBadHandle, "file handle: not made by symnas");
  if (crc32c(bytes.substr(0, kCrcAt)) != read_be32(bytes, kCrcAt))
    return fail(ErrorCode::kBadHandle, "file handle: checksum does not match");
  const Handle handle{FsId{read_be32(bytes, kFsIdAt)}, Ino{read_be64(bytes, kInoAt)},
                      Generation{read_be64(bytes, kGenerationAt)}};
  if (handle.ino == Ino{0}) return fail(ErrorCode::kBadHandle, "file handle: inode number 0");
  if (handle.fs != expected)
    return fail(ErrorCode::kStale, "file handle: of filesystem " +
                                       std::to_string(handle.fs.value()) + ", not of " +
                                       std::to_string(expected.value()));
  return handle;
}

}  // namespace symnas::fs
