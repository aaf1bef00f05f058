#include "fsal_cluster/ops/lookup.h"

#include <utility>

#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/retry.h"

namespace symnas::fs {
namespace {

Result<Attributes> lookup_dot(Context& context, const Handle& directory, bool parent) {
  SYMNAS_ASSIGN(Directory here, require_directory(context, directory));
  if (!parent) return attributes_of(context.fs, here);
  SYMNAS_ASSIGN(std::optional<Node> up, find_node(context, Ino{here.node.record.parent()}));
  if (!up) return fail(ErrorCode::kConflict, "parent directory: removed meanwhile");
  SYMNAS_ASSIGN(const Directory above, with_times(context, std::move(*up)));
  return attributes_of(context.fs, above);
}

Result<Attributes> lookup_name(Context& context, const Handle& directory, const std::string& name) {
  SYMNAS_ASSIGN(const Place place, read_place(context, directory, name));
  if (place.entry() == nullptr) return fail(ErrorCode::kNotFound, name + ": no such name");
  SYMNAS_ASSIGN(const Node target, read_target(context, place));
  auto attributes = current_attributes(context, target);
  if (!attributes && attributes.error().code == ErrorCode::kStale)
    return fail(ErrorCode::kConflict, name + ": removed meanwhile");
  return attributes;
}

}  // namespace

Result<Attributes> lookup(Context& context, const Handle& directory, const std::string& name) {
  SYMNAS_ASSIGN(const Membership::Stay stay, before_strict_read(context));
  auto found = retry_conflicts(context, Cache::kCurrent, [&](int) -> Result<Attributes> {
    if (name == "." || name == "..") return lookup_dot(context, directory, name == "..");
    return lookup_name(context, directory, name);
  });
  if (!found && found.error().code == ErrorCode::kConflict)
    return fail(ErrorCode::kCorrupt, "directory " + std::to_string(directory.ino.value()) + ": \"" +
                                         name + "\" names an inode that does not exist");
  return found;
}

Result<Attributes> resolve(Context& context, const std::string& path) {
  SYMNAS_ASSIGN(std::optional<Node> root, find_node(context, kRootIno));
  if (!root) return fail(ErrorCode::kCorrupt, "filesystem: no root directory");
  SYMNAS_ASSIGN(Attributes at, current_attributes(context, *root));
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (!name.empty()) {
      SYMNAS_ASSIGN(at, lookup(context, at.handle, name));
    }
    begin = end + 1;
  }
  return at;
}

}  // namespace symnas::fs
