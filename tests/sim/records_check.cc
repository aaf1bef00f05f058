#include "tests/sim/records_check.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/types.h"

namespace symnas::sim {

namespace {

namespace keys = kv::keys;

class RecordsCheck {
 public:
  RecordsCheck(FsId fs, std::uint64_t volume_blocks, std::size_t living_mounts)
      : fs_(fs), volume_blocks_(volume_blocks), living_mounts_(living_mounts) {}

  std::string run(const std::vector<kv::KeyValue>& dump, Moment moment) {
    for (const kv::KeyValue& kv : dump) take(kv);
    if (wrong_.empty()) check_space();
    if (wrong_.empty()) check_tree();
    if (wrong_.empty()) check_closed();
    if (wrong_.empty() && moment == Moment::kQuiet) check_leftovers();
    return wrong_;
  }

 private:
  template <class Record>
  Record parse(const kv::KeyValue& kv) {
    Record record;
    if (!record.ParseFromString(kv.value)) complain("unreadable record " + to_hex(kv.key));
    return record;
  }
  void complain(const std::string& what) {
    if (wrong_.empty()) wrong_ = "records: " + what;
  }
  static std::string name_of(std::uint64_t ino) { return "inode " + std::to_string(ino); }

  void take(const kv::KeyValue& kv) {
    const auto in = [&](char area, char letter) {
      return kv.key.starts_with(keys::table(fs_, area, letter));
    };
    const std::size_t at = keys::table(fs_, 'w', 'I').size();
    if (in('w', 'I')) {
      const std::uint64_t ino = read_be64(kv.key, at);
      const auto inode = parse<fs::records::Inode>(kv);
      if (inode.chunked() && inode.extents_size() > 0) complain("two maps of " + name_of(ino));
      map(ino, inode.map_generation(), inode.extents());
      inodes_[ino] = inode;
    } else if (in('w', 'M')) {
      const auto chunk = parse<fs::records::MapChunk>(kv);
      map(read_be64(kv.key, at), read_be32(kv.key, at + 8), chunk.extents());
    } else if (in('u', 'R')) {
      reverse_[read_be64(kv.key, at + 4)] = parse<fs::records::ReverseMap>(kv).blocks();
    } else if (in('w', 'D')) {
      const std::uint64_t dir = read_be64(kv.key, at);
      const auto bucket = parse<fs::records::DirentBucket>(kv);
      for (const auto& entry : bucket.entries()) {
        names_.push_back({dir, entry.ino(), std::string(entry.name())});
      }
    } else if (in('w', 'O')) {
      orphans_[read_be64(kv.key, at)] = parse<fs::records::Orphan>(kv);
    } else if (in('w', 'B')) {
      mounts_.insert(read_be64(kv.key, at));
      if (kv.key.size() > at + 8 && parse<fs::records::EndRecord>(kv).clean())
        closed_.insert(read_be64(kv.key, at));
    } else if (in('u', 'S')) {
      slots_.insert(read_be64(kv.key, at));
    } else if (in('w', 'K')) {
      ++tokens_[read_be64(kv.key, at + 8)];
    }
  }

  template <class Extents>
  void map(std::uint64_t ino, std::uint32_t generation, const Extents& extents) {
    for (const fs::records::Extent& extent : extents) {
      if (!mapped_.emplace(extent.volume_block(), extent.blocks()).second) {
        complain("volume block " + std::to_string(extent.volume_block()) + " mapped twice");
      }
      used_[{ino, generation}] += extent.blocks();
    }
  }

  void check_space() {
    if (mapped_ != reverse_) complain("the maps and the reverse map differ");
    std::uint64_t end = 0;
    for (const auto& [start, blocks] : mapped_) {
      if (start < end) complain("extents overlap at volume block " + std::to_string(start));
      end = start + blocks;
    }
    if (end > volume_blocks_) complain("an extent beyond the volume");
    for (const auto& [ino, inode] : inodes_) {
      const std::uint64_t used = used_[{ino, inode.map_generation()}];
      if (!inode.has_trim_block() && inode.used_blocks() != used) {
        complain(name_of(ino) + " counts " + std::to_string(inode.used_blocks()) +
                 " blocks and has " + std::to_string(used));
      }
    }
    for (const auto& [of, blocks] : used_) {
      const auto inode = inodes_.find(of.first);
      const bool live = inode != inodes_.end() && inode->second.map_generation() == of.second;
      if (blocks > 0 && !live && !orphans_.contains(of.first)) {
        complain("blocks of a dead map of " + name_of(of.first) + " that nobody will free");
      }
    }
  }

  void check_tree() {
    std::map<std::uint64_t, std::uint32_t> links;
    for (const Name& name : names_) {
      const auto target = inodes_.find(name.ino);
      const auto dir = inodes_.find(name.dir);
      if (target == inodes_.end()) return complain("name " + name.name + " of a missing inode");
      if (dir == inodes_.end()) return complain("name " + name.name + " in a missing directory");
      ++links[name.ino];
      if (is_directory(target->second) && target->second.parent() != name.dir) {
        complain(name_of(name.ino) + " has another parent than its name");
      }
    }
    for (const auto& [ino, inode] : inodes_) {
      if (ino == fs::kRootIno.value()) continue;
      const std::uint32_t expected = is_directory(inode) ? 1 : inode.nlink();
      if (links[ino] != expected) {
        complain(name_of(ino) + " has " + std::to_string(links[ino]) + " names and should have " +
                 std::to_string(expected));
      }
      if (expected == 0 && !orphans_.contains(ino)) complain(name_of(ino) + " is lost");
    }
    for (const auto& [ino, inode] : inodes_) {
      std::uint64_t up = ino;
      for (std::size_t steps = 0; is_directory(inode) && up != fs::kRootIno.value(); ++steps) {
        if (steps > inodes_.size()) return complain(name_of(ino) + " is in a cycle");
        up = inodes_[up].parent();
      }
    }
  }
  static bool is_directory(const fs::records::Inode& inode) {
    return inode.type() == static_cast<std::uint32_t>(fs::FileType::kDirectory);
  }

  // A successor may serve before anybody has examined what the closed mount has left.
  void check_closed() {
    for (const std::uint64_t mount : closed_) {
      if (tokens_.contains(mount))
        complain("mount " + std::to_string(mount) + " has closed and left a token");
    }
  }

  void check_leftovers() {
    if (!orphans_.empty()) complain(name_of(orphans_.begin()->first) + " is still an orphan");
    if (mounts_.size() > living_mounts_) complain("records of ended mounts are left");
    for (const std::uint64_t mount : slots_) {
      if (!mounts_.contains(mount)) complain("slots of an ended mount are left");
    }
    for (const auto& [mount, count] : tokens_) {
      if (living_mounts_ > 1 && mounts_.contains(mount)) continue;  // used recently
      complain("tokens are left");
    }
    for (const auto& [ino, inode] : inodes_) {
      if (inode.has_trim_block()) complain(name_of(ino) + " is still being trimmed");
    }
  }

  struct Name {
    std::uint64_t dir = 0;
    std::uint64_t ino = 0;
    std::string name;
  };
  const FsId fs_;
  const std::uint64_t volume_blocks_;
  const std::size_t living_mounts_;
  std::string wrong_;
  std::map<std::uint64_t, fs::records::Inode> inodes_;
  std::map<std::uint64_t, std::uint64_t> mapped_;
  std::map<std::uint64_t, std::uint64_t> reverse_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> used_;  // inode, generation
  std::map<std::uint64_t, fs::records::Orphan> orphans_;
  std::vector<Name> names_;
  std::set<std::uint64_t> mounts_;
  std::set<std::uint64_t> closed_;  // of mounts_: ended by their own close
  std::set<std::uint64_t> slots_;
  std::map<std::uint64_t, int> tokens_;  // by mount
};

}  // namespace

std::string check_records(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                          Moment moment, std::size_t living_mounts) {
  return RecordsCheck(fs, volume_blocks, living_mounts).run(server.dump(), moment);
}

std::uint64_t mapped_blocks(const kv::MemServer& server, FsId fs) {
  std::uint64_t sum = 0;
  for (const kv::KeyValue& kv : server.dump()) {
    fs::records::ReverseMap record;
    if (kv.key.starts_with(keys::table(fs, 'u', 'R')) && record.ParseFromString(kv.value)) {
      sum += record.blocks();
    }
  }
  return sum;
}

}  // namespace symnas::sim
