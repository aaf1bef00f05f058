// TreeModel: what a POSIX file tree looks like after a sequence of NFSv3 operations, in memory.
//
// allowed_*() returns the statuses that a server may answer to an operation in the present state,
// without changing anything; the mutators then do what a successful operation does. The identity of
// a node (handle, fileid) is taken from the server's answer when the node is made.
//
// Thread class: thread-compatible. Invariants: every live node but the root is named by nlink
// entries (files) or by one (directories); a node without names is dead and kept for its handle.
// Sources: RFC 1813 section 3.3; POSIX rename(), link(), unlink(), rmdir().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/client/model/file_bytes.h"
#include "tests/client/model/uncommitted.h"
#include "tests/client/nfs3_client.h"

namespace symnas::model {

using Statuses = std::vector<int>;  // acceptable answers; {NFS3_OK} when it must succeed

struct Node {
  ftype3 type = NF3REG;
  std::uint32_t mode = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t nlink = 0;  // directories: 1 while named
  specdata3 device{};
  std::string target;
  FileBytes bytes;          // as the client wrote them
  Uncommitted uncommitted;  // what of them the server may lose
  std::map<std::string, Node*> entries;
  Node* parent = nullptr;  // of a directory

  nfs3::Handle handle;
  std::uint64_t fileid = 0;
  nfstime3 ctime_seen{};          // never runs backwards
  std::optional<nfstime3> mtime;  // exact: the client has set it, and nothing has happened since
  std::optional<nfstime3> atime;

  bool is_directory() const { return type == NF3DIR; }
  bool dead() const { return nlink == 0; }
};

class TreeModel {
 public:
  TreeModel();

  Node& root() { return *nodes_.front(); }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  static Node* find(const Node& directory, const std::string& name);

  static Statuses allowed_lookup(const Node& directory, const std::string& name);
  // For create (GUARDED), mkdir, symlink, mknod.
  static Statuses allowed_make(const Node& directory, const std::string& name);
  static Statuses allowed_create_unchecked(const Node& directory, const std::string& name);
  static Statuses allowed_remove(const Node& directory, const std::string& name);
  static Statuses allowed_rmdir(const Node& directory, const std::string& name);
  static Statuses allowed_link(const Node& file, const Node& directory, const std::string& name);
  static Statuses allowed_rename(const Node& from, const std::string& from_name, const Node& to,
                                 const std::string& to_name);

  Node& make(Node& directory, const std::string& name, ftype3 type);
  void unlink(Node& directory, const std::string& name);  // remove and rmdir
  void link(Node& file, Node& directory, const std::string& name);
  void rename(Node& from, const std::string& from_name, Node& to, const std::string& to_name);

 private:
  static void touch(Node& directory) { directory.mtime.reset(); }

  std::vector<std::unique_ptr<Node>> nodes_;  // dead ones too
};

}  // namespace symnas::model
