#include "fsal_cluster/ops/nodes.h"

#include <utility>
#include <vector>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/dirent.h"

namespace symnas::fs {
namespace {

Error stale(Ino ino, std::string_view why) {
  return Error{ErrorCode::kStale, "inode " + std::to_string(ino.value()) + ": " + std::string(why)};
}

Result<Node> checked(const Context& context, const Handle& handle, std::optional<Node> node) {
  if (handle.fs != context.fs)
    return tl::unexpected<Error>(stale(handle.ino, "of another filesystem"));
  if (!node) return tl::unexpected<Error>(stale(handle.ino, "does not exist any more"));
  if (node->record.generation() != handle.generation.value())
    return tl::unexpected<Error>(stale(handle.ino, "another generation"));
  return std::move(*node);
}

// Reads a node and notes its ctime, so that a time that is given later lies above it. That also
// holds while a broken watch is being replaced, when no stamps arrive.
Result<std::optional<Node>> read_node(const Context& context, Ino ino,
                                      const kv::CachedValue& value) {
  SYMNAS_ASSIGN(std::optional<Node> node, parse_node(ino, value));
  if (node) context.session.saw_time_ns(node->record.ctime_ns());
  return node;
}

Result<Directory> read_directory(const Context& context, Node node, const kv::CachedValue& times) {
  SYMNAS_ASSIGN(Directory directory, parse_directory(std::move(node), times));
  if (directory.times) context.session.saw_time_ns(directory.times->time_ns());
  return directory;
}

Result<Bucket> parse_bucket(std::string key, const kv::CachedValue& value) {
  Bucket bucket{std::move(key), {}, Revision{0}};
  if (!value.value) return bucket;
  SYMNAS_ASSIGN(bucket.record,
                parse_record<records::DirentBucket>(*value.value, "directory entries"));
  bucket.mod_revision = value.mod_revision;
  return bucket;
}

Result<Attributes> file_attributes_here(Context& context, Ino ino) {
  auto [node, overlay] =
      read_consistent(context.data, ino, [&] { return find_node(context, ino); });
  if (!node) return tl::unexpected<Error>(std::move(node.error()));
  if (!*node) return tl::unexpected<Error>(stale(ino, "does not exist any more"));
  Attributes out = attributes_of(context.fs, **node, context.block_bytes);
  show((*node)->record, (*node)->mod_revision, overlay, context.block_bytes, out);
  return out;
}

Result<Attributes> file_attributes(Context& context, Ino ino) {
  SYMNAS_TRY(context.data.publish_foreign(ino));
  return file_attributes_here(context, ino);
}

}  // namespace

const records::Dirent* Place::entry() const { return find_entry(bucket.record, name); }

Result<std::optional<Node>> find_node(Context& context, Ino ino) {
  SYMNAS_ASSIGN(const kv::CachedValue value,
                context.session.read(kv::keys::inode(context.fs, ino)));
  return read_node(context, ino, value);
}

Result<Node> require_node(Context& context, const Handle& handle) {
  SYMNAS_ASSIGN(std::optional<Node> node, find_node(context, handle.ino));
  return checked(context, handle, std::move(node));
}

Result<Node> node_of(const Context& context, const Handle& handle, const kv::CachedValue& value) {
  SYMNAS_ASSIGN(std::optional<Node> node, read_node(context, handle.ino, value));
  return checked(context, handle, std::move(node));
}

Result<Directory> with_times(Context& context, Node node) {
  SYMNAS_ASSIGN(const kv::CachedValue times,
                context.session.read(kv::keys::directory_times(context.fs, node.ino)));
  return read_directory(context, std::move(node), times);
}

Result<Directory> require_directory(Context& context, const Handle& handle) {
  SYMNAS_ASSIGN(Node node, require_node(context, handle));
  if (!node.is_directory())
    return fail(ErrorCode::kNotDirectory,
                "inode " + std::to_string(handle.ino.value()) + ": not a directory");
  return with_times(context, std::move(node));
}

Result<Place> read_place(Context& context, const Handle& directory, const std::string& name) {
  SYMNAS_TRY(check_name(name));
  const FsId fs = context.fs;
  std::string bucket_key = kv::keys::dirent_bucket(fs, directory.ino, context.hasher.hash(name));
  SYMNAS_TRY(context.session.await_own({bucket_key}));
  SYMNAS_ASSIGN(const std::vector<kv::CachedValue> values,
                context.session.read(std::vector<std::string>{
                    kv::keys::inode(fs, directory.ino),
                    kv::keys::directory_times(fs, directory.ino), bucket_key}));
  SYMNAS_ASSIGN(Node node, node_of(context, directory, values[0]));
  if (!node.is_directory())
    return fail(ErrorCode::kNotDirectory,
                "inode " + std::to_string(directory.ino.value()) + ": not a directory");
  Place place;
  place.name = name;
  SYMNAS_ASSIGN(place.directory, read_directory(context, std::move(node), values[1]));
  SYMNAS_ASSIGN(place.bucket, parse_bucket(std::move(bucket_key), values[2]));
  return place;
}

Result<Node> read_target(Context& context, const Place& place) {
  const Ino ino{place.entry()->ino()};
  SYMNAS_ASSIGN(std::optional<Node> node, find_node(context, ino));
  if (!node) return fail(ErrorCode::kConflict, place.name + ": removed meanwhile");
  return std::move(*node);
}

Result<Attributes> current_attributes(Context& context, const Node& node) {
  if (node.is_regular()) return file_attributes(context, node.ino);
  if (!node.is_directory()) return attributes_of(context.fs, node, context.block_bytes);
  SYMNAS_ASSIGN(const Directory directory, with_times(context, node));
  return attributes_of(context.fs, directory);
}

Result<Attributes> attributes_here(Context& context, const Node& node) {
  if (node.is_regular()) return file_attributes_here(context, node.ino);
  return current_attributes(context, node);
}

Handle handle_of(const Context& context, const Node& node) {
  return Handle{context.fs, node.ino, Generation{node.record.generation()}};
}

kv::Compare unchanged(FsId fs, const Node& node) {
  return kv::mod_revision_is(kv::keys::inode(fs, node.ino), node.mod_revision);
}

kv::Compare unchanged(const Bucket& bucket) {
  return kv::mod_revision_is(bucket.key, bucket.mod_revision);
}

kv::Op put_inode(FsId fs, Ino ino, const records::Inode& record) {
  return kv::put(kv::keys::inode(fs, ino), changed_inode(record));
}

kv::Op put_bucket(const Bucket& bucket) {
  if (bucket.record.entries_size() == 0) return kv::erase(bucket.key);
  return kv::put(bucket.key, bucket.record.SerializeAsString());
}

}  // namespace symnas::fs
