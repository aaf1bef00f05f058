#include "tests/sim/tree_check.h"

#include <map>
#include <optional>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/records.pb.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/types.h"

namespace symnas::sim {

namespace {

class TreeCheck {
 public:
  TreeCheck(FsId fs, const std::set<std::uint64_t>& linked) : fs_(fs), linked_(linked) {}

  std::string run(const std::vector<kv::KeyValue>& dump) {
    for (const kv::KeyValue& kv : dump) take(kv);
    for (const auto& [number, tree] : trees_) {
      if (inodes_.contains(tree.root())) walk(number, tree);
    }
    for (const auto& [ino, inode] : inodes_) {
      if (!trees_.contains(inode.tree()) || excused(ino) || !named_.contains(ino)) continue;
      if (!below_[inode.tree()].contains(ino))
        complain(ino, inode.tree(), "has the number and does not lie in it");
    }
    return wrong_;
  }

 private:
  void take(const kv::KeyValue& kv) {
    const std::string inodes = kv::keys::table(fs_, 'w', 'I');
    const std::string names = kv::keys::table(fs_, 'w', 'D');
    const std::string trees = kv::keys::quota_trees(fs_);
    if (kv.key.starts_with(inodes)) {
      inodes_[read_be64(kv.key, inodes.size())].ParseFromString(kv.value);
    } else if (kv.key.starts_with(trees)) {
      trees_[read_be32(kv.key, trees.size())].ParseFromString(kv.value);
    } else if (kv.key.starts_with(names)) {
      fs::records::DirentBucket bucket;
      bucket.ParseFromString(kv.value);
      for (const auto& entry : bucket.entries()) {
        names_[read_be64(kv.key, names.size())].push_back(entry.ino());
        named_.insert(entry.ino());
      }
    }
  }
  bool is_directory(std::uint64_t ino) const {
    return inodes_.at(ino).type() == static_cast<std::uint32_t>(fs::FileType::kDirectory);
  }
  bool excused(std::uint64_t ino) const { return linked_.contains(ino) && !is_directory(ino); }

  void walk(std::uint32_t number, const fs::records::QuotaTree& tree) {
    std::vector<std::uint64_t> pending = {tree.root()};
    while (!pending.empty()) {
      const std::uint64_t ino = pending.back();
      pending.pop_back();
      if (!inodes_.contains(ino) || !below_[number].insert(ino).second) continue;
      const std::uint32_t has = inodes_.at(ino).tree();
      if (tree.state() == fs::records::QuotaTree::READY && has != number && !excused(ino))
        complain(ino, number, "is below its root and has the number " + std::to_string(has));
      for (const auto& [other, record] : trees_) {
        if (other != number && record.root() == ino)
          complain(ino, number, "is below its root and the root of " + std::to_string(other));
      }
      const std::vector<std::uint64_t>& below = names_[ino];
      pending.insert(pending.end(), below.begin(), below.end());
    }
  }
  void complain(std::uint64_t ino, std::uint32_t tree, const std::string& what) {
    if (!wrong_.empty()) return;
    wrong_ = "trees: inode " + std::to_string(ino) + ", tree " + std::to_string(tree) + ": " + what;
  }

  const FsId fs_;
  const std::set<std::uint64_t>& linked_;
  std::map<std::uint64_t, fs::records::Inode> inodes_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> names_;  // by directory
  std::set<std::uint64_t> named_;
  std::map<std::uint32_t, fs::records::QuotaTree> trees_;
  std::map<std::uint32_t, std::set<std::uint64_t>> below_;
  std::string wrong_;
};

}  // namespace

std::string check_trees(const kv::MemServer& server, FsId fs,
                        const std::set<std::uint64_t>& linked) {
  return TreeCheck(fs, linked).run(server.dump());
}

}  // namespace symnas::sim
