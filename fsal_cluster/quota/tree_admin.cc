#include "fsal_cluster/quota/tree_admin.h"

#include <map>
#include <utility>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/limits.h"
#include "fsal_cluster/quota/records.pb.h"
#include "fsal_cluster/quota/subject.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/limits.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {
namespace {

using Trees = std::map<std::uint32_t, records::QuotaTree>;

Result<Trees> read_trees(kv::Store& store, FsId fs) {
  const std::string prefix = kv::keys::quota_trees(fs);
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(store, kv::prefix_range(prefix), 0, kAdminDeadlineMs));
  Trees out;
  for (const kv::KeyValue& kv : read.kvs) {
    records::QuotaTree tree;
    if (kv.key.size() != prefix.size() + 4 || !tree.ParseFromString(kv.value))
      return fail(ErrorCode::kCorrupt, "quota: the record of a directory tree cannot be parsed");
    out[read_be32(kv.key, prefix.size())] = std::move(tree);
  }
  return out;
}

// Directories from `from` up to the root, each looked up once.
class Ancestors {
 public:
  Ancestors(kv::Store& store, FsId fs) : store_(store), fs_(fs) {}
  // Whether `above` is `from` or lies above it. A directory that is gone lies nowhere.
  Result<bool> has(Ino from, Ino above) {
    for (int depth = 0; depth < kDirectoryDepthMax; ++depth) {
      if (from == above) return true;
      if (from == kRootIno) return false;
      SYMNAS_ASSIGN(const Ino parent, parent_of(from));
      if (parent == Ino{0}) return false;
      from = parent;
    }
    return false;
  }

 private:
  Result<Ino> parent_of(Ino directory) {
    const auto known = parents_.find(directory.value());
    if (known != parents_.end()) return known->second;
    const std::string key = kv::keys::inode(fs_, directory);
    SYMNAS_ASSIGN(const kv::OpResult read,
                  kv::range_blocking(store_, kv::single_key(key), 1, kAdminDeadlineMs));
    records::Inode inode;
    if (!read.kvs.empty()) inode.ParseFromString(read.kvs.front().value);
    return parents_[directory.value()] = Ino{inode.parent()};
  }

  kv::Store& store_;
  const FsId fs_;
  std::map<std::uint64_t, Ino> parents_;
};

Status check_directory(kv::Store& store, FsId fs, Ino root, const std::string& path) {
  if (root == kRootIno)
    return fail(ErrorCode::kInvalidArgument,
                "quota: the root of a filesystem is no tree; set a limit with --filesystem");
  SYMNAS_ASSIGN(
      const kv::OpResult read,
      kv::range_blocking(store, kv::single_key(kv::keys::inode(fs, root)), 1, kAdminDeadlineMs));
  if (read.kvs.empty())
    return fail(ErrorCode::kNotFound, fmt::format("quota: {} does not exist any more", path));
  records::Inode inode;
  if (!inode.ParseFromString(read.kvs.front().value) ||
      inode.type() != static_cast<std::uint32_t>(FileType::kDirectory))
    return fail(ErrorCode::kInvalidArgument, fmt::format("quota: {} is no directory", path));
  return {};
}

Status check_not_nested(kv::Store& store, FsId fs, Ino root, const std::string& path,
                        const Trees& trees) {
  Ancestors ancestors(store, fs);
  for (const auto& [id, tree] : trees) {
    SYMNAS_ASSIGN(const bool inside, ancestors.has(root, Ino{tree.root()}));
    SYMNAS_ASSIGN(const bool above, ancestors.has(Ino{tree.root()}, root));
    if (inside || above)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("quota: {} {} tree {} ({}); trees do not lie in each other: remove "
                              "that one first (symnas quota tree rm)",
                              path, inside ? "lies in" : "has below it", id, tree.path()));
  }
  return {};
}

}  // namespace

Result<std::uint32_t> add_tree(kv::Store& store, FsId fs, Ino root, const std::string& path,
                               Doing doing) {
  std::uint32_t made = 0;
  const std::string mode_key = kv::keys::quota_mode(fs);
  const std::string move_key = kv::keys::directory_move(fs);
  const auto plan = [&](const std::optional<kv::KeyValue>& now) -> Result<PlannedChange> {
    records::QuotaMode mode;
    if (now && !mode.ParseFromString(now->value))
      return fail(ErrorCode::kCorrupt, "quota: the stored mode cannot be parsed");
    if (mode.state() == records::QuotaMode::OFF)
      return fail(ErrorCode::kInvalidArgument,
                  "quota: usage is not counted yet; run: symnas quota on FILESYSTEM");
    // Read before the parents: that no directory is moved meanwhile is compared.
    SYMNAS_ASSIGN(const kv::OpResult move,
                  kv::range_blocking(store, kv::single_key(move_key), 1, kAdminDeadlineMs));
    SYMNAS_TRY(check_directory(store, fs, root, path));
    SYMNAS_ASSIGN(const Trees trees, read_trees(store, fs));
    for (const auto& [id, tree] : trees) {
      if (Ino{tree.root()} != root) continue;
      if (made == id) return PlannedChange();  // an earlier try has made it
      return fail(ErrorCode::kAlreadyExists, fmt::format("quota: {} is tree {} already", path, id));
    }
    if (trees.size() >= kTreesMax)
      return fail(ErrorCode::kNoSpace,
                  fmt::format("quota: a filesystem has at most {} directory trees", kTreesMax));
    SYMNAS_TRY(check_not_nested(store, fs, root, path, trees));
    made = mode.last_tree() + 1;
    mode.set_last_tree(made);
    records::QuotaTree tree;
    tree.set_root(root.value());
    tree.set_path(path);
    const Revision moved = move.kvs.empty() ? Revision{0} : move.kvs.front().mod_revision;
    return PlannedChange{
        {kv::mod_revision_is(move_key, moved), kv::key_exists(kv::keys::inode(fs, root))},
        // A move that was decided before knows nothing of this tree.
        {kv::put(move_key, ""), kv::put(mode_key, mode.SerializeAsString()),
         kv::put(kv::keys::quota_tree(fs, made), tree.SerializeAsString())}};
  };
  SYMNAS_TRY(change_record(store, fs, mode_key, plan, doing));
  return made;
}

Status remove_tree(kv::Store& store, FsId fs, std::uint32_t tree, Doing doing) {
  constexpr auto kKind = static_cast<std::uint8_t>(SubjectKind::kTree);
  const std::string key = kv::keys::quota_tree(fs, tree);
  const auto plan = [&](const std::optional<kv::KeyValue>& now) -> Result<PlannedChange> {
    if (!now) return PlannedChange();
    return PlannedChange{{},
                         {kv::erase(key), kv::erase(kv::keys::quota_limit(fs, kKind, tree)),
                          kv::erase(kv::keys::quota_grace(fs, kKind, tree))}};
  };
  SYMNAS_ASSIGN(const bool done, change_record(store, fs, key, plan, doing));
  if (done) return {};
  return fail(ErrorCode::kNotFound,
              fmt::format("quota: there is no directory tree {}; symnas quota tree ls FILESYSTEM "
                          "lists them",
                          tree));
}

Result<std::uint32_t> find_tree(kv::Store& store, FsId fs, Ino root, const std::string& path) {
  SYMNAS_ASSIGN(const Trees trees, read_trees(store, fs));
  for (const auto& [id, tree] : trees) {
    if (Ino{tree.root()} == root) return id;
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("quota: {} is no directory tree; symnas quota tree add makes one", path));
}

}  // namespace symnas::fs
