// Damages planted into the keys of a sound filesystem (CheckWorld::populate), with what the check
// says of each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message.h>

#include "fsal_cluster/schema/name_hash.h"
#include "tests/unit/fsal_cluster/check/check_world.h"

namespace symnas::fs::test {

// Inodes that CheckWorld::populate() makes, in the order of its creates.
inline constexpr Ino kDirA{16}, kDirB{17}, kDirC{18}, kSmall{19}, kLarge{20}, kHoles{21},
    kEmpty{22}, kSoft{23}, kFifo{24}, kOpen{26}, kHere{27}, kNobody{9999};
inline constexpr MountId kMount{1}, kNoMount{77};
inline constexpr std::uint64_t kFreeBlock =
    15 * CheckWorld::kGroupBlocks + 7;  // in a group that no mount has claimed

// What the damage changes is not there.
struct NothingToWorkOn : std::runtime_error {
  NothingToWorkOn() : std::runtime_error("the damage has nothing to work on") {}
};

class Keys {
 public:
  Keys(FsId of, check::Context about, const std::vector<kv::KeyValue>& kvs)
      : fs(of), context(std::move(about)) {
    for (const kv::KeyValue& kv : kvs) all_[kv.key] = kv;
  }
  const kv::KeyValue& at(const std::string& key) const {
    if (!all_.contains(key)) throw NothingToWorkOn();
    return all_.at(key);
  }
  void put(const std::string& key, const std::string& value) {
    kv::KeyValue& kv = all_[key];
    kv.key = key;
    kv.value = value;
  }
  void put(const std::string& key, const google::protobuf::Message& message) {
    put(key, message.SerializeAsString());
  }
  void set_revision(const std::string& key, Revision revision) {
    at(key);
    all_.at(key).mod_revision = revision;
  }
  void erase(const std::string& key) {
    if (all_.erase(key) != 1) throw NothingToWorkOn();
  }
  void move(const std::string& from, const std::string& to) {
    put(to, at(from).value);
    erase(from);
  }
  template <class Record>
  Record record(const std::string& key) const {
    Record out;
    if (!out.ParseFromString(at(key).value)) throw NothingToWorkOn();
    return out;
  }
  template <class Record>
  void edit(const std::string& key, const std::function<void(Record&)>& change) {
    Record out = record<Record>(key);
    change(out);
    put(key, out);
  }
  void edit_inode(Ino ino, const std::function<void(records::Inode&)>& change) {
    edit<records::Inode>(kv::keys::inode(fs, ino), change);
  }
  std::string bucket(Ino dir, const std::string& name) const {
    const auto hasher = NameHasher::create(context.filesystem.name_hash_key());
    return kv::keys::dirent_bucket(fs, dir, hasher->hash(name));
  }
  void add_name(Ino dir, const std::string& name, Ino target, FileType type) {
    if (all_.contains(bucket(dir, name))) throw NothingToWorkOn();  // else two damages
    records::DirentBucket bucket_record;
    records::Dirent& entry = *bucket_record.add_entries();
    entry.set_name(name);
    entry.set_ino(target.value());
    entry.set_type(static_cast<std::uint32_t>(type));
    put(bucket(dir, name), bucket_record);
  }
  void edit_name(Ino dir, const std::string& name,
                 const std::function<void(records::Dirent&)>& change) {
    edit<records::DirentBucket>(bucket(dir, name),
                                [&](records::DirentBucket& b) { change(*b.mutable_entries(0)); });
  }
  std::string reverse(std::uint64_t block) const {
    return kv::keys::reverse_map(fs, static_cast<std::uint32_t>(block / CheckWorld::kGroupBlocks),
                                 block);
  }
  // The first volume block of a small file.
  std::uint64_t block_of(Ino ino) const {
    const auto inode = record<records::Inode>(kv::keys::inode(fs, ino));
    if (inode.extents_size() == 0) throw NothingToWorkOn();
    return inode.extents(0).volume_block();
  }
  std::string chunk(Ino ino, std::uint64_t index = 0, std::uint32_t generation = 0) const {
    return kv::keys::map_chunk(fs, ino, MapGeneration{generation}, index);
  }
  std::string lock() const {
    for (const auto& [key, kv] : all_)
      if (key.starts_with(kv::keys::locks(fs))) return key;
    throw NothingToWorkOn();
  }
  std::vector<kv::KeyValue> kvs() const {
    std::vector<kv::KeyValue> out;
    for (const auto& [key, kv] : all_) out.push_back(kv);
    return out;
  }

  const FsId fs;
  check::Context context;

 private:
  std::map<std::string, kv::KeyValue> all_;
};

struct Damage {
  const char* name;
  std::function<void(Keys&)> plant;
  std::string finding;  // how one of the findings begins
};
inline std::ostream& operator<<(std::ostream& out, const Damage& damage) {
  return out << damage.name;
}

// The transaction that changes a store with these keys as the damage does: it compares the keys
// that it changes. Throws NothingToWorkOn.
kv::Txn planted(FsId fs, const check::Context& context, const std::vector<kv::KeyValue>& kvs,
                const std::function<void(Keys&)>& damage);

std::vector<Damage> tree_damages();
std::vector<Damage> record_damages();
std::vector<Damage> map_damages();
std::vector<Damage> holder_damages();

}  // namespace symnas::fs::test
