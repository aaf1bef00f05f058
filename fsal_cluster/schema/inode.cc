#include "fsal_cluster/schema/inode.h"

#include <algorithm>

#include "fsal_cluster/schema/acl.h"

namespace symnas::fs {
namespace {

bool known_type(std::uint32_t type) {
  return type >= static_cast<std::uint32_t>(FileType::kRegular) &&
         type <= static_cast<std::uint32_t>(FileType::kSocket);
}

std::string inode_name(Ino ino) { return "inode " + std::to_string(ino.value()); }

std::uint64_t change_of(Revision revision) {
  return static_cast<std::uint64_t>(revision.value()) << kChangeShift;
}

Attributes common_attributes(FsId fs, const Node& node) {
  const records::Inode& inode = node.record;
  Attributes out;
  out.handle = Handle{fs, node.ino, Generation{inode.generation()}};
  out.type = node.type();
  out.mode = inode.mode();
  out.uid = inode.uid();
  out.gid = inode.gid();
  out.nlink = inode.nlink();
  out.rdev_major = inode.rdev_major();
  out.rdev_minor = inode.rdev_minor();
  out.atime_ns = inode.atime_ns();
  out.mtime_ns = inode.mtime_ns();
  out.ctime_ns = inode.ctime_ns();
  out.change = change_of(content_revision(inode, node.mod_revision));
  if (inode.has_exclusive_verifier()) out.exclusive_verifier = inode.exclusive_verifier();
  out.acl = acl_of(inode);
  return out;
}

}  // namespace

std::string changed_inode(records::Inode inode) {
  inode.clear_content_revision();
  return inode.SerializeAsString();
}

Revision content_revision(const records::Inode& inode, Revision mod_revision) {
  return inode.content_revision() == 0 ? mod_revision : Revision(inode.content_revision());
}

Result<std::optional<Node>> parse_node(Ino ino, const kv::CachedValue& value) {
  if (!value.value) return std::optional<Node>();
  SYMNAS_ASSIGN(records::Inode record, parse_record<records::Inode>(*value.value, inode_name(ino)));
  if (!known_type(record.type()))
    return fail(ErrorCode::kCorrupt,
                inode_name(ino) + ": unknown file type " + std::to_string(record.type()));
  return std::optional<Node>(Node{ino, std::move(record), value.mod_revision});
}

Result<Directory> parse_directory(Node node, const kv::CachedValue& times) {
  Directory out{std::move(node), std::nullopt, Revision{0}};
  if (!times.value) return out;
  SYMNAS_ASSIGN(out.times, parse_record<records::DirectoryTimes>(
                               *times.value, inode_name(out.node.ino) + " directory times"));
  out.times_mod_revision = times.mod_revision;
  return out;
}

Attributes attributes_of(FsId fs, const Node& node, std::uint32_t block_bytes) {
  Attributes out = common_attributes(fs, node);
  out.size_bytes = node.record.size_bytes();
  out.space_used_bytes = node.record.used_blocks() * block_bytes;
  return out;
}

Attributes attributes_of(FsId fs, const Directory& directory) {
  Attributes out = common_attributes(fs, directory.node);
  out.size_bytes = kDirectorySizeBytes;
  out.space_used_bytes = kDirectorySizeBytes;
  if (!directory.times) return out;
  const records::DirectoryTimes& times = *directory.times;
  out.mtime_ns = times.has_mtime_ns() ? times.mtime_ns() : times.time_ns();
  out.ctime_ns = std::max(out.ctime_ns, times.time_ns());
  out.change = std::max(out.change, change_of(directory.times_mod_revision));
  return out;
}

}  // namespace symnas::fs
