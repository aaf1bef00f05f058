#include "tests/client/model/tree_model.h"

#include <algorithm>

namespace symnas::model {
namespace {

constexpr std::size_t kNameBytesMax = 255;

// What every operation on a name in `directory` answers before it looks up the name; empty: go on.
Statuses directory_refuses(const Node& directory, const std::string& name) {
  if (directory.dead()) return {NFS3ERR_STALE, NFS3ERR_BADHANDLE, NFS3ERR_NOENT};
  if (!directory.is_directory()) return {NFS3ERR_NOTDIR};
  if (name.size() > kNameBytesMax) return {NFS3ERR_NAMETOOLONG};
  return {};
}

bool is_inside(const Node* node, const Node* ancestor) {
  for (; node != nullptr; node = node->parent) {
    if (node == ancestor) return true;
  }
  return false;
}

}  // namespace

TreeModel::TreeModel() {
  nodes_.push_back(std::make_unique<Node>());
  root().type = NF3DIR;
  root().nlink = 1;
}

Node* TreeModel::find(const Node& directory, const std::string& name) {
  const auto it = directory.entries.find(name);
  return it == directory.entries.end() ? nullptr : it->second;
}

Statuses TreeModel::allowed_lookup(const Node& directory, const std::string& name) {
  if (Statuses refused = directory_refuses(directory, name); !refused.empty()) return refused;
  return {find(directory, name) != nullptr ? NFS3_OK : NFS3ERR_NOENT};
}

Statuses TreeModel::allowed_make(const Node& directory, const std::string& name) {
  if (Statuses refused = directory_refuses(directory, name); !refused.empty()) return refused;
  return {find(directory, name) != nullptr ? NFS3ERR_EXIST : NFS3_OK};
}

Statuses TreeModel::allowed_create_unchecked(const Node& directory, const std::string& name) {
  if (Statuses refused = directory_refuses(directory, name); !refused.empty()) return refused;
  const Node* there = find(directory, name);
  if (there == nullptr || there->type == NF3REG) return {NFS3_OK};
  return {NFS3ERR_EXIST, NFS3ERR_ISDIR, NFS3ERR_INVAL, NFS3ERR_BADTYPE};
}

Statuses TreeModel::allowed_remove(const Node& directory, const std::string& name) {
  if (Statuses refused = directory_refuses(directory, name); !refused.empty()) return refused;
  const Node* there = find(directory, name);
  if (there == nullptr) return {NFS3ERR_NOENT};
  if (there->is_directory()) return {NFS3ERR_ISDIR, NFS3ERR_PERM};
  return {NFS3_OK};
}

Statuses TreeModel::allowed_rmdir(const Node& directory, const std::string& name) {
  if (Statuses refused = directory_refuses(directory, name); !refused.empty()) return refused;
  const Node* there = find(directory, name);
  if (there == nullptr) return {NFS3ERR_NOENT};
  if (!there->is_directory()) return {NFS3ERR_NOTDIR};
  if (!there->entries.empty()) return {NFS3ERR_NOTEMPTY, NFS3ERR_EXIST};
  return {NFS3_OK};
}

Statuses TreeModel::allowed_link(const Node& file, const Node& directory, const std::string& name) {
  Statuses wrong_file;
  if (file.dead()) wrong_file = {NFS3ERR_STALE, NFS3ERR_BADHANDLE};
  if (!file.dead() && file.is_directory()) {
    wrong_file = {NFS3ERR_ISDIR, NFS3ERR_PERM, NFS3ERR_INVAL, NFS3ERR_BADTYPE};
  }
  // When two faults apply, the server chooses which one it reports.
  Statuses wrong_name = allowed_make(directory, name);
  if (wrong_file.empty()) return wrong_name;
  if (wrong_name.front() != NFS3_OK) {
    wrong_file.insert(wrong_file.end(), wrong_name.begin(), wrong_name.end());
  }
  return wrong_file;
}

Statuses TreeModel::allowed_rename(const Node& from, const std::string& from_name, const Node& to,
                                   const std::string& to_name) {
  Statuses refused = directory_refuses(from, from_name);
  const Statuses refused_to = directory_refuses(to, to_name);
  refused.insert(refused.end(), refused_to.begin(), refused_to.end());
  if (!refused.empty()) {
    // The server may look up the source before it checks the target's directory.
    if (!from.dead() && find(from, from_name) == nullptr) refused.push_back(NFS3ERR_NOENT);
    return refused;
  }
  const Node* source = find(from, from_name);
  const Node* target = find(to, to_name);
  if (source == nullptr) return {NFS3ERR_NOENT};
  if (source == target) return {NFS3_OK};
  Statuses faults;
  if (source->is_directory() && is_inside(&to, source)) faults.push_back(NFS3ERR_INVAL);
  if (target != nullptr) {
    if (target->is_directory() != source->is_directory()) {
      faults.push_back(target->is_directory() ? NFS3ERR_ISDIR : NFS3ERR_NOTDIR);
      faults.push_back(NFS3ERR_EXIST);
    }
    if (target->is_directory() && !target->entries.empty()) {
      faults.push_back(NFS3ERR_NOTEMPTY);
      faults.push_back(NFS3ERR_EXIST);
    }
  }
  return faults.empty() ? Statuses{NFS3_OK} : faults;
}

Node& TreeModel::make(Node& directory, const std::string& name, ftype3 type) {
  nodes_.push_back(std::make_unique<Node>());
  Node& node = *nodes_.back();
  node.type = type;
  node.nlink = 1;
  if (type == NF3DIR) node.parent = &directory;
  directory.entries[name] = &node;
  touch(directory);
  return node;
}

void TreeModel::unlink(Node& directory, const std::string& name) {
  Node* node = find(directory, name);
  directory.entries.erase(name);
  node->nlink -= 1;
  touch(directory);
}

void TreeModel::link(Node& file, Node& directory, const std::string& name) {
  directory.entries[name] = &file;
  file.nlink += 1;
  touch(directory);
}

void TreeModel::rename(Node& from, const std::string& from_name, Node& to,
                       const std::string& to_name) {
  Node* source = find(from, from_name);
  Node* target = find(to, to_name);
  if (source == target) return;
  if (target != nullptr) target->nlink -= 1;
  from.entries.erase(from_name);
  to.entries[to_name] = source;
  if (source->is_directory()) source->parent = &to;
  touch(from);
  touch(to);
}

}  // namespace symnas::model
