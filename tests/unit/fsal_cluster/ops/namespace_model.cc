#include "tests/unit/fsal_cluster/ops/namespace_model.h"

#include "fsal_cluster/access/acl_change.h"
#include "fsal_cluster/schema/acl.h"

namespace symnas::fs {

using OpError = NamespaceModel::OpError;

OpError NamespaceModel::check_directory(Id dir) const {
  if (nodes_[dir].nlink == 0) return ErrorCode::kStale;
  if (nodes_[dir].type != FileType::kDirectory) return ErrorCode::kNotDirectory;
  return std::nullopt;
}

const NamespaceModel::Id* NamespaceModel::find(Id dir, const std::string& name) const {
  const auto found = nodes_[dir].entries.find(name);
  return found == nodes_[dir].entries.end() ? nullptr : &found->second;
}

bool NamespaceModel::below(Id node, Id ancestor) const {
  for (; node != 0; node = nodes_[node].parent)
    if (node == ancestor) return true;
  return ancestor == 0;
}

OpError NamespaceModel::add(Id dir, const std::string& name, FileType type) {
  if (const OpError bad = check_directory(dir)) return bad;
  if (find(dir, name) != nullptr) return ErrorCode::kAlreadyExists;
  const std::uint32_t mode = type == FileType::kSymlink ? 0777 : 0644;
  nodes_.push_back(Node{type, mode, 1, dir, {}, {}, {}});
  nodes_[dir].entries[name] = nodes_.size() - 1;
  return std::nullopt;
}

OpError NamespaceModel::create_unchecked(Id dir, const std::string& name, Id& found) {
  if (const OpError bad = check_directory(dir)) return bad;
  if (const Id* existing = find(dir, name)) {
    found = *existing;
    if (nodes_[found].type == FileType::kRegular) return std::nullopt;
    return nodes_[found].type == FileType::kDirectory ? ErrorCode::kIsDirectory
                                                      : ErrorCode::kAlreadyExists;
  }
  const OpError added = add(dir, name, FileType::kRegular);
  found = nodes_.size() - 1;
  return added;
}

OpError NamespaceModel::link(Id target, Id dir, const std::string& name) {
  if (nodes_[target].nlink == 0) return ErrorCode::kStale;
  if (const OpError bad = check_directory(dir)) return bad;
  if (nodes_[target].type == FileType::kDirectory) return ErrorCode::kIsDirectory;
  if (find(dir, name) != nullptr) return ErrorCode::kAlreadyExists;
  ++nodes_[target].nlink;
  nodes_[dir].entries[name] = target;
  return std::nullopt;
}

OpError NamespaceModel::unlink(Id dir, const std::string& name) {
  if (const OpError bad = check_directory(dir)) return bad;
  const Id* found = find(dir, name);
  if (found == nullptr) return ErrorCode::kNotFound;
  if (nodes_[*found].type == FileType::kDirectory) return ErrorCode::kIsDirectory;
  --nodes_[*found].nlink;
  nodes_[dir].entries.erase(name);
  return std::nullopt;
}

OpError NamespaceModel::rmdir(Id dir, const std::string& name) {
  if (const OpError bad = check_directory(dir)) return bad;
  const Id* found = find(dir, name);
  if (found == nullptr) return ErrorCode::kNotFound;
  if (nodes_[*found].type != FileType::kDirectory) return ErrorCode::kNotDirectory;
  if (!nodes_[*found].entries.empty()) return ErrorCode::kNotEmpty;
  nodes_[*found].nlink = 0;
  nodes_[dir].entries.erase(name);
  return std::nullopt;
}

OpError NamespaceModel::check_replace(Id source, Id target, Id from) const {
  const bool source_dir = nodes_[source].type == FileType::kDirectory;
  const bool target_dir = nodes_[target].type == FileType::kDirectory;
  if (source_dir && !target_dir) return ErrorCode::kNotDirectory;
  if (!source_dir && target_dir) return ErrorCode::kIsDirectory;
  if (target == from) return ErrorCode::kNotEmpty;
  return std::nullopt;
}

OpError NamespaceModel::rename(Id from, const std::string& from_name, Id to,
                               const std::string& to_name) {
  if (const OpError bad = check_directory(from)) return bad;
  if (const OpError bad = check_directory(to)) return bad;
  const Id* found = find(from, from_name);
  if (found == nullptr) return ErrorCode::kNotFound;
  const Id source = *found;
  const Id* target = find(to, to_name);
  if (target != nullptr && *target == source) return std::nullopt;
  if (target != nullptr)
    if (const OpError bad = check_replace(source, *target, from)) return bad;
  const bool directory = nodes_[source].type == FileType::kDirectory;
  if (directory && from != to && below(to, source)) return ErrorCode::kInvalidArgument;
  if (target != nullptr && directory && !nodes_[*target].entries.empty())
    return ErrorCode::kNotEmpty;
  if (target != nullptr) --nodes_[*target].nlink;
  nodes_[from].entries.erase(from_name);
  nodes_[to].entries[to_name] = source;
  if (directory) nodes_[source].parent = to;
  return std::nullopt;
}

OpError NamespaceModel::change_access(Id node,
                                      const std::function<Status(records::Inode&)>& change) {
  Node& at = nodes_[node];
  if (at.nlink == 0) return ErrorCode::kStale;
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(at.type));
  inode.set_mode(at.mode);
  if (at.acl) put_acl(inode, *at.acl);
  const Status changed = change(inode);
  if (!changed) return changed.error().code;
  at.mode = inode.mode();
  at.acl = acl_of(inode);
  return std::nullopt;
}

OpError NamespaceModel::chmod(Id node, std::uint32_t mode) {
  return change_access(node, [&](records::Inode& inode) { return set_mode(mode, inode); });
}

OpError NamespaceModel::set_acl(Id node, const Acl& acl) {
  return change_access(node, [&](records::Inode& inode) {
    return fs::set_acl({acl, {}, {}}, inode);
  });
}

OpError NamespaceModel::check_xattrs(Id node) const {
  if (nodes_[node].nlink == 0) return ErrorCode::kStale;
  if (nodes_[node].type == FileType::kSymlink) return ErrorCode::kNotOwner;
  return std::nullopt;
}

OpError NamespaceModel::set_xattr(Id node, const std::string& name, const std::string& value,
                                  XattrOption option) {
  if (const OpError bad = check_xattrs(node)) return bad;
  const bool exists = nodes_[node].xattrs.contains(name);
  if (exists && option == XattrOption::kCreate) return ErrorCode::kAlreadyExists;
  if (!exists && option == XattrOption::kReplace) return ErrorCode::kNotFound;
  nodes_[node].xattrs[name] = value;
  return std::nullopt;
}

OpError NamespaceModel::remove_xattr(Id node, const std::string& name) {
  if (const OpError bad = check_xattrs(node)) return bad;
  if (nodes_[node].xattrs.erase(name) == 0) return ErrorCode::kNotFound;
  return std::nullopt;
}

OpError NamespaceModel::lookup(Id dir, const std::string& name, Id& found) const {
  if (const OpError bad = check_directory(dir)) return bad;
  if (name == "..") {
    found = nodes_[dir].parent;
    return std::nullopt;
  }
  const Id* entry = find(dir, name);
  if (entry == nullptr) return ErrorCode::kNotFound;
  found = *entry;
  return std::nullopt;
}

}  // namespace symnas::fs
