// NamespaceModel: a simple model in memory of what a namespace must do: the tree, link counts and
// error codes of POSIX. What an ACL and a mode make of each other it is told by
// access/acl_change.h. All calls are as root.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/acl.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

class NamespaceModel {
 public:
  using Id = std::size_t;                    // index of a node; 0 is the root
  using OpError = std::optional<ErrorCode>;  // nullopt: success

  NamespaceModel() { nodes_.push_back(Node{FileType::kDirectory, 0755, 1, 0, {}, {}, {}}); }

  // On success the new node has the highest id.
  OpError add(Id dir, const std::string& name, FileType type);
  // CREATE UNCHECKED: `found` is the file that answers.
  OpError create_unchecked(Id dir, const std::string& name, Id& found);
  OpError link(Id target, Id dir, const std::string& name);
  OpError unlink(Id dir, const std::string& name);
  OpError rmdir(Id dir, const std::string& name);
  OpError rename(Id from, const std::string& from_name, Id to, const std::string& to_name);
  OpError chmod(Id node, std::uint32_t mode);
  // An ACL of which nothing is inherited.
  OpError set_acl(Id node, const Acl& acl);
  OpError set_xattr(Id node, const std::string& name, const std::string& value, XattrOption option);
  OpError remove_xattr(Id node, const std::string& name);
  OpError lookup(Id dir, const std::string& name, Id& found) const;

  Id size() const { return nodes_.size(); }
  FileType type(Id id) const { return nodes_[id].type; }
  std::uint32_t mode(Id id) const { return nodes_[id].mode; }
  // Null: the mode says everything.
  const std::shared_ptr<const Acl>& acl(Id id) const { return nodes_[id].acl; }
  std::uint32_t nlink(Id id) const { return nodes_[id].nlink; }
  const std::map<std::string, Id>& entries(Id dir) const { return nodes_[dir].entries; }
  const std::map<std::string, std::string>& xattrs(Id id) const { return nodes_[id].xattrs; }

 private:
  struct Node {
    FileType type;
    std::uint32_t mode;
    std::uint32_t nlink;  // 0: gone
    Id parent;            // directories
    std::map<std::string, Id> entries;
    std::map<std::string, std::string> xattrs;
    std::shared_ptr<const Acl> acl;
  };
  OpError change_access(Id node, const std::function<Status(records::Inode&)>& change);
  OpError check_xattrs(Id node) const;
  OpError check_directory(Id dir) const;
  const Id* find(Id dir, const std::string& name) const;
  bool below(Id node, Id ancestor) const;
  OpError check_replace(Id source, Id target, Id from) const;

  std::vector<Node> nodes_;
};

}  // namespace symnas::fs
