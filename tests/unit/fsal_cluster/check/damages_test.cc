// Damages planted into the keys of a sound filesystem: each is found, with a message that names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <utility>

#include <google/protobuf/message.h>

#include "common/base/check.h"
#include "fsal_cluster/schema/name_hash.h"
#include "tests/unit/fsal_cluster/check/check_world.h"

namespace symnas::fs::test {
namespace {

namespace keys = kv::keys;
using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;

// Inodes that CheckWorld::populate() makes, in the order of its creates.
constexpr Ino kDirA{16}, kDirB{17}, kDirC{18}, kSmall{19}, kLarge{20}, kHoles{21}, kEmpty{22},
    kSoft{23}, kFifo{24}, kOpen{26}, kHere{27}, kNobody{9999};
constexpr MountId kMount{1}, kNoMount{77};
constexpr std::uint64_t kFreeBlock =
    15 * CheckWorld::kGroupBlocks + 7;  // in a group that no mount has claimed

class Keys {
 public:
  Keys(FsId of, check::Context about, const std::vector<kv::KeyValue>& kvs)
      : fs(of), context(std::move(about)) {
    for (const kv::KeyValue& kv : kvs) all_[kv.key] = kv;
  }
  const kv::KeyValue& at(const std::string& key) const {
    CHECK(all_.contains(key), "the damage has nothing to work on");
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
    all_.at(key).mod_revision = revision;
  }
  void erase(const std::string& key) { CHECK(all_.erase(key) == 1, "nothing to erase"); }
  void move(const std::string& from, const std::string& to) {
    put(to, at(from).value);
    erase(from);
  }
  template <class Record>
  Record record(const std::string& key) const {
    Record out;
    CHECK(out.ParseFromString(at(key).value));
    return out;
  }
  template <class Record>
  void edit(const std::string& key, const std::function<void(Record&)>& change) {
    Record out = record<Record>(key);
    change(out);
    put(key, out);
  }
  void edit_inode(Ino ino, const std::function<void(records::Inode&)>& change) {
    edit<records::Inode>(keys::inode(fs, ino), change);
  }
  std::string bucket(Ino dir, const std::string& name) const {
    const auto hasher = NameHasher::create(context.filesystem.name_hash_key());
    return keys::dirent_bucket(fs, dir, hasher->hash(name));
  }
  void add_name(Ino dir, const std::string& name, Ino target, FileType type) {
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
    return keys::reverse_map(fs, static_cast<std::uint32_t>(block / CheckWorld::kGroupBlocks),
                             block);
  }
  // The first volume block of a small file.
  std::uint64_t block_of(Ino ino) const {
    return record<records::Inode>(keys::inode(fs, ino)).extents(0).volume_block();
  }
  std::string chunk(Ino ino, std::uint64_t index = 0, std::uint32_t generation = 0) const {
    return keys::map_chunk(fs, ino, MapGeneration{generation}, index);
  }
  std::string lock() const {
    for (const auto& [key, kv] : all_)
      if (key.starts_with(keys::locks(fs))) return key;
    CHECK(false, "there is no lock");
    return {};
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
std::ostream& operator<<(std::ostream& out, const Damage& damage) { return out << damage.name; }

records::ReverseMap reverse_record(Ino ino, std::uint64_t file_block, std::uint32_t blocks) {
  records::ReverseMap record;
  record.set_ino(ino.value());
  record.set_file_block(file_block);
  record.set_blocks(blocks);
  return record;
}

records::TokenRecord exclusive_token() {
  records::TokenRecord token;
  token.set_mode(records::TokenRecord::X);
  return token;
}

std::vector<Damage> tree_damages() {
  return {
      {"NameOfAMissingInode", [](Keys& k) { k.erase(keys::inode(k.fs, kEmpty)); },
       "tree inode 18: name 'empty' leads to inode 22, which does not exist"},
      {"MissingName", [](Keys& k) { k.erase(k.bucket(kDirC, "empty")); },
       "links inode 22: nlink is 1, 0 names lead to it"},
      {"LinkCount",
       [](Keys& k) { k.edit_inode(kSmall, [](records::Inode& inode) { inode.set_nlink(3); }); },
       "links inode 19: nlink is 3, 2 names lead to it"},
      {"LinkCountOfDirectory",
       [](Keys& k) { k.edit_inode(kDirC, [](records::Inode& inode) { inode.set_nlink(2); }); },
       "links inode 18: a directory with nlink 2, not 1"},
      {"NamelessInodeThatNobodyHasOpen", [](Keys& k) { k.erase(keys::orphan(k.fs, kOpen)); },
       "links inode 26: has no link, and no orphan record says that it is open"},
      {"TypeOfName",
       [](Keys& k) {
         k.edit_name(kDirC, "empty", [](records::Dirent& entry) { entry.set_type(2); });
       },
       "name inode 18: name 'empty' says type 2, inode 22 is of type 1"},
      {"HashOfName",
       [](Keys& k) { k.move(k.bucket(kDirC, "empty"), keys::dirent_bucket(k.fs, kDirC, 12345)); },
       "name inode 18: name 'empty': lies under hash 0x3039, its hash is 0x"},
      {"SlotOfName",
       [](Keys& k) {
         k.edit_name(kDirC, "empty", [](records::Dirent& entry) { entry.set_slot(300); });
       },
       "name inode 18: name 'empty': has slot 300"},
      {"NameWithASlash",
       [](Keys& k) {
         k.edit_name(kDirC, "empty", [](records::Dirent& entry) { entry.set_name("x/y"); });
       },
       "name inode 18: name 'x/y': is no name that a directory may have"},
      {"EmptyBucket", [](Keys& k) { k.put(k.bucket(kDirC, "none"), records::DirentBucket()); },
       "name inode 18: an empty bucket of hash 0x"},
      {"NameTwice",
       [](Keys& k) {
         k.edit<records::DirentBucket>(k.bucket(kDirC, "empty"), [](records::DirentBucket& b) {
           *b.add_entries() = b.entries(0);
           b.mutable_entries(1)->set_slot(1);
         });
       },
       "name inode 18: name 'empty': is there twice"},
      {"ParentOfDirectory",
       [](Keys& k) { k.edit_inode(kDirC, [](records::Inode& inode) { inode.set_parent(1); }); },
       "tree inode 18: its record has inode 1 as parent, its name 'c' is in inode 17"},
      {"DirectoryWithoutName", [](Keys& k) { k.erase(k.bucket(kDirC, "here")); },
       "tree inode 27: a directory to which no name leads"},
      {"DirectoryWithTwoNames",
       [](Keys& k) { k.add_name(kDirA, "hard", kHere, FileType::kDirectory); },
       "tree inode 27: a directory to which 2 names lead"},
      {"CycleOfDirectories",
       [](Keys& k) {
         k.erase(k.bucket(kRootIno, "a"));
         k.add_name(kDirC, "a", kDirA, FileType::kDirectory);
         k.edit_inode(kDirA, [](records::Inode& inode) { inode.set_parent(kDirC.value()); });
       },
       "tree inode 16: is its own ancestor: a cycle of directories"},
      {"MissingDirectory", [](Keys& k) { k.erase(keys::inode(k.fs, kDirC)); },
       "tree inode 18: does not exist, but has the name '"},
      {"MissingParent",
       [](Keys& k) { k.edit_inode(kHere, [](records::Inode& inode) { inode.set_parent(9999); }); },
       "tree inode 27: its parent, inode 9999, does not exist"},
      {"NamesInAFile", [](Keys& k) { k.add_name(kFifo, "x", kEmpty, FileType::kRegular); },
       "tree inode 24: has names, but is no directory"},
      {"MissingRoot", [](Keys& k) { k.erase(keys::inode(k.fs, kRootIno)); },
       "tree inode 1: the root directory does not exist"},
      {"NameOfTheRoot", [](Keys& k) { k.add_name(kDirC, "up", kRootIno, FileType::kDirectory); },
       "tree inode 18: name 'up' leads to the root directory"},
      {"TimesWithoutDirectory",
       [](Keys& k) { k.put(keys::directory_times(k.fs, kNobody), records::DirectoryTimes()); },
       "leftover inode 9999: has directory times, but does not exist"},
  };
}

std::vector<Damage> record_damages() {
  return {
      {"InodeRecord", [](Keys& k) { k.put(keys::inode(k.fs, kEmpty), "\xff"); },
       "record inode 22: its record cannot be parsed"},
      {"InodeType",
       [](Keys& k) { k.edit_inode(kEmpty, [](records::Inode& inode) { inode.set_type(9); }); },
       "record inode 22: is of the unknown type 9"},
      {"NamesRecord", [](Keys& k) { k.put(k.bucket(kDirC, "empty"), "\xff"); },
       "record inode 18: its names of hash 0x"},
      {"MapRecord", [](Keys& k) { k.put(k.chunk(kLarge), "\xff"); },
       "record inode 20: map chunk 0 cannot be parsed"},
      {"ReverseMapRecord", [](Keys& k) { k.put(k.reverse(k.block_of(kSmall)), "\xff"); },
       "record: the reverse-map entry of volume block "},
      {"Mode",
       [](Keys& k) { k.edit_inode(kEmpty, [](records::Inode& inode) { inode.set_mode(070644); }); },
       "record inode 22: has mode 70644"},
      {"SymlinkTarget",
       [](Keys& k) { k.edit_inode(kSoft, [](records::Inode& inode) { inode.set_size_bytes(3); }); },
       "size inode 23: a symlink of 8 bytes, its size says 3"},
      {"UnknownWatchedTable", [](Keys& k) { k.put(keys::table(k.fs, 'w', 'Q') + "x", ""); },
       "key: no table has a key like "},
      {"UnknownArea", [](Keys& k) { k.put(keys::table(k.fs, 'x', 'I'), ""); },
       "key: no table has a key like "},
      {"ShapeOfKey", [](Keys& k) { k.put(keys::inode(k.fs, kEmpty) + "1", ""); },
       "key: no table has a key like "},
      {"InodeCounter", [](Keys& k) { k.put(keys::next_ino(k.fs), "20"); },
       "counter inode 20: the next free inode number is 20"},
      {"InodeCounterThatIsNoNumber", [](Keys& k) { k.put(keys::next_ino(k.fs), "x"); },
       "counter: the counter of inode numbers holds 'x', no number"},
      {"ReservedInodeNumber",
       [](Keys& k) { k.put(keys::inode(k.fs, Ino{5}), k.at(keys::inode(k.fs, kEmpty)).value); },
       "counter inode 5: has a reserved inode number"},
      {"Generation",
       [](Keys& k) { k.edit_inode(kEmpty, [](records::Inode& i) { i.set_generation(50); }); },
       "counter inode 22: its generation 50 is the id of no mount"},
      {"MissingStamp", [](Keys& k) { k.erase(keys::stamp(k.fs)); }, "stamp: there is no stamp"},
      {"LateStamp",
       [](Keys& k) {
         // As by a transaction that has changed a watched key without putting the stamp.
         k.set_revision(keys::stamp(k.fs), Revision{2});
       },
       "stamp: a watched key ("},
      {"TimeBeforeTheChange",
       [](Keys& k) {
         k.edit_inode(kEmpty, [](records::Inode& inode) {
           inode.set_ctime_ns(inode.ctime_ns() + 3'600'000'000'000);
         });
       },
       "stamp inode 22: was changed at "},
      {"MountId", [](Keys& k) { k.put(keys::mount(k.fs, kNoMount), records::MountRecord()); },
       "counter: mount 77: the next free id is 2"},
      {"MountClaim", [](Keys& k) { k.put(keys::mount_claim(k.fs), "0"); },
       "counter: mount 1: the newest claim is of mount 0"},
  };
}

std::vector<Damage> map_damages() {
  return {
      {"MissingReverseMapEntry", [](Keys& k) { k.erase(k.reverse(k.block_of(kSmall))); },
       "reverse_map inode 19: file block 0 lies at volume block "},
      {"ReverseMapDisagrees",
       [](Keys& k) {
         k.edit<records::ReverseMap>(k.reverse(k.block_of(kSmall)),
                                     [](records::ReverseMap& r) { r.set_file_block(7); });
       },
       "reverse_map inode 19: its map has 3 blocks at volume block "},
      {"LostSpaceOfALivingFile",
       [](Keys& k) { k.put(k.reverse(kFreeBlock), reverse_record(kSmall, 9, 4)); },
       "lost_space inode 19: volume blocks 15367 to 15370 are marked as its file block 9 (map "
       "generation 0), its map does not have them"},
      {"LostSpaceOfAMissingFile",
       [](Keys& k) { k.put(k.reverse(kFreeBlock), reverse_record(kNobody, 0, 1)); },
       "lost_space inode 9999: volume blocks 15367 to 15367 are marked as its file block 0 (map "
       "generation 0), but it does not exist"},
      {"TwoOwnersOfABlock",
       [](Keys& k) {
         const auto extent = k.record<records::Inode>(keys::inode(k.fs, kSmall)).extents(0);
         k.edit_inode(kEmpty, [&](records::Inode& inode) {
           *inode.add_extents() = extent;
           inode.set_size_bytes(10'000);
           inode.set_used_blocks(extent.blocks());
         });
       },
       "two_owners inode 22: volume blocks "},
      {"ReverseMapOverlaps",
       [](Keys& k) { k.put(k.reverse(k.block_of(kSmall) + 1), reverse_record(kSmall, 1, 1)); },
       "two_owners inode 19: the reverse-map entry of volume block "},
      {"ReverseMapInAnotherGroup",
       [](Keys& k) { k.put(keys::reverse_map(k.fs, 3, kFreeBlock), reverse_record(kSmall, 9, 4)); },
       "reverse_map inode 19: reverse-map entry of 4 blocks at volume block 15367: not in its "
       "allocation group 3"},
      {"ReverseMapBeyondTheVolume",
       [](Keys& k) { k.put(k.reverse(1 << 24), reverse_record(kSmall, 9, 4)); },
       "size inode 19: reverse-map entry of 4 blocks at volume block 16777216: outside the volume"},
      {"ExtentBeyondTheVolume",
       [](Keys& k) {
         k.edit_inode(kSmall, [](records::Inode& inode) {
           inode.mutable_extents(0)->set_volume_block(1 << 24);
         });
       },
       "size inode 19: extent of 3 blocks at file block 0, volume block 16777216: outside the "
       "volume"},
      {"ExtentOverTwoGroups",
       [](Keys& k) {
         k.edit_inode(kSmall, [](records::Inode& inode) {
           inode.mutable_extents(0)->set_volume_block(2 * CheckWorld::kGroupBlocks - 1);
         });
       },
       "map inode 19: extent of 3 blocks at file block 0, volume block 2047: crosses the end of an "
       "allocation group"},
      {"ExtentsOverlapInTheFile",
       [](Keys& k) {
         k.edit_inode(kSmall, [](records::Inode& inode) {
           *inode.add_extents() = inode.extents(0);
           inode.mutable_extents(1)->set_volume_block(kFreeBlock);
         });
       },
       "map inode 19: extent of 3 blocks at file block 0, volume block 15367: overlaps the extent "
       "before it in the file"},
      {"BitmapOfExtent",
       [](Keys& k) {
         k.edit_inode(kSmall,
                      [](records::Inode& inode) { inode.mutable_extents(0)->set_written("\xff"); });
       },
       "map inode 19: extent of 3 blocks at file block 0, volume block "},
      {"MapBehindTheEnd",
       [](Keys& k) { k.edit_inode(kSmall, [](records::Inode& i) { i.set_size_bytes(100); }); },
       "size inode 19: 100 bytes long, but blocks 0 to 2 of the file are mapped"},
      {"CountOfBlocks",
       [](Keys& k) { k.edit_inode(kSmall, [](records::Inode& i) { i.set_used_blocks(9); }); },
       "map inode 19: its record counts 6 blocks more than its map has"},
      {"MapOfADirectory",
       [](Keys& k) { k.edit_inode(kDirB, [](records::Inode& i) { i.set_used_blocks(9); }); },
       "map inode 17: has a map, but is no regular file"},
      {"MapGenerationOfTheFuture", [](Keys& k) { k.move(k.chunk(kLarge), k.chunk(kLarge, 0, 5)); },
       "map inode 20: a map chunk is of map generation 5, the inode of 0"},
      {"DeadMapThatNobodyFrees",
       [](Keys& k) { k.edit_inode(kLarge, [](records::Inode& i) { i.set_map_generation(1); }); },
       "lost_space inode 20: map generation 0 is dead, and no orphan record frees it"},
      {"MapOfAMissingFile", [](Keys& k) { k.erase(keys::inode(k.fs, kLarge)); },
       "lost_space inode 20: map chunk 0 of map generation 0, but the inode does not exist"},
      {"MapChunkOfAnInlineFile",
       [](Keys& k) { k.edit_inode(kLarge, [](records::Inode& i) { i.set_chunked(false); }); },
       "map inode 20: its record says that there are no map chunks, there are"},
      {"EmptyMapChunk", [](Keys& k) { k.put(k.chunk(kLarge, 3), records::MapChunk()); },
       "record inode 20: map chunk 3 is empty"},
      {"MissingMapChunk", [](Keys& k) { k.erase(k.chunk(kHoles, 1)); },
       "lost_space inode 21: volume blocks "},
      {"WatermarkThatNobodySweeps",
       [](Keys& k) { k.edit_inode(kLarge, [](records::Inode& i) { i.set_trim_block(0); }); },
       "lost_space inode 20: has a watermark above which its map is dead"},
      {"OrphanOfAMissingFile", [](Keys& k) { k.erase(keys::inode(k.fs, kOpen)); },
       "orphan inode 26: its orphan record says that it is open, but it is gone"},
      {"OrphanOfALinkedFile",
       [](Keys& k) {
         records::Orphan orphan;
         orphan.set_generation(1);
         k.put(keys::orphan(k.fs, kSmall), orphan);
       },
       "orphan inode 19: its orphan record says removed, but the inode is there"},
      {"OrphanOfAnotherGeneration",
       [](Keys& k) {
         k.edit<records::Orphan>(keys::orphan(k.fs, kOpen),
                                 [](records::Orphan& orphan) { orphan.set_generation(8); });
       },
       "orphan inode 26: its orphan record is of generation 8, it is of 1"},
  };
}

std::vector<Damage> holder_damages() {
  return {
      {"TokenOfAnUnknownMount",
       [](Keys& k) { k.put(keys::token(k.fs, kEmpty, kNoMount), records::TokenRecord()); },
       "leftover inode 22: a token is left of mount 77, which does not exist"},
      {"TokenOfAMissingFile",
       [](Keys& k) { k.put(keys::token(k.fs, kNobody, kMount), records::TokenRecord()); },
       "leftover inode 9999: mount 1 has a token on it, but it does not exist"},
      {"TwoExclusiveTokens",
       [](Keys& k) {
         k.put(keys::token(k.fs, kEmpty, kMount), exclusive_token());
         k.put(keys::token(k.fs, kEmpty, kNoMount), records::TokenRecord());
       },
       "lock inode 22: mount 77 has a token on it beside another, and one of them is exclusive"},
      {"WantOfAMissingFile", [](Keys& k) { k.put(keys::want(k.fs, kNobody), ""); },
       "leftover inode 9999: a token is asked for, but it does not exist"},
      {"HeartbeatOfAnUnknownMount", [](Keys& k) { k.put(keys::heartbeat(k.fs, kNoMount), ""); },
       "leftover: its heartbeat is left of mount 77, which does not exist"},
      {"SlotOfAnUnknownMount",
       [](Keys& k) {
         k.put(keys::mount_slots(k.fs, kNoMount) + "s/" + std::string(1, '\0'),
               std::string(12, '\0'));
       },
       "leftover: a session slot is left of mount 77, which does not exist"},
      {"ShapeOfSlot", [](Keys& k) { k.put(keys::mount_slots(k.fs, kMount) + "t/x", ""); },
       "key: mount 1: a slot key of a wrong shape"},
      {"EndRecordWithoutMount",
       [](Keys& k) { k.put(keys::mount_ended(k.fs, kNoMount), records::EndRecord()); },
       "leftover: mount 77: an end record without the mount: nothing is left to prove"},
      {"HoldOfAnUnknownMount", [](Keys& k) { k.put(keys::hold(k.fs, kOpen, kNoMount), ""); },
       "leftover inode 26: a hold of it is left of mount 77, which does not exist"},
      {"EndedMountThatNobodyRecovers",
       [](Keys& k) {
         k.put(keys::mount_ended(k.fs, kMount), records::EndRecord());
         k.put(keys::mount(k.fs, kNoMount), records::MountRecord());
       },
       "leftover: mount 1: has ended, its successor has not cleaned up"},
      {"GroupOfAnUnknownMount",
       [](Keys& k) {
         k.edit<records::GroupOwner>(keys::group_owner(k.fs, 0),
                                     [](records::GroupOwner& g) { g.set_mount(77); });
       },
       "leftover: allocation group 0 is left of mount 77, which does not exist"},
      {"GroupWithoutOwner", [](Keys& k) { k.erase(keys::group_owner(k.fs, 0)); },
       "group: allocation group 0 has used blocks, but no owner record"},
      {"GroupBeyondTheVolume",
       [](Keys& k) { k.put(keys::group_owner(k.fs, 500), k.at(keys::group_owner(k.fs, 0)).value); },
       "group: allocation group 500 has an owner, the volume has "},
      {"LockOfAMissingFile",
       [](Keys& k) {
         records::LockRecord lock = k.record<records::LockRecord>(k.lock());
         lock.set_ino(kNobody.value());
         std::string key = keys::locks(k.fs);
         append_be64(key, kNobody.value());
         k.put(key + k.lock().substr(key.size()), lock);
       },
       "leftover inode 9999: client 'dbhost' of vnfs1 has a lock on it, but it does not exist"},
      {"LockOfAMissingVnfs", [](Keys& k) { k.context.vnfses = {"vnfs9"}; },
       "leftover inode 19: client 'dbhost' of vnfs1 has a lock on it, but there is no such VNFS"},
      {"LockUnderAnothersKey", [](Keys& k) { k.move(k.lock(), k.lock() + "2"); },
       "lock inode 19: a lock record of it lies under another owner's key"},
      {"ConflictingLocks",
       [](Keys& k) {
         records::LockRecord lock = k.record<records::LockRecord>(k.lock());
         const std::string key = k.lock() + "2";
         lock.set_owner(lock.owner() + "2");
         lock.mutable_ranges(0)->set_start(50);
         k.put(key, lock);
       },
       "lock inode 19: clients 'dbhost' and 'dbhost' hold conflicting locks at byte 50"},
      {"LockOfNoByte",
       [](Keys& k) {
         k.edit<records::LockRecord>(k.lock(), [](records::LockRecord& l) { l.clear_ranges(); });
       },
       "lock inode 19: client 'dbhost' of vnfs1 has a lock of no byte"},
  };
}

// One populated filesystem serves all tests: each damage works on a copy of its keys.
const Keys& sound() {
  static const Keys* const kept = [] {
    CheckWorld world;
    world.mount();
    world.populate();
    return new Keys(world.fs, world.context(), world.dump());
  }();
  return *kept;
}

class Damages : public testing::TestWithParam<Damage> {};

TEST_P(Damages, IsFound) {
  Keys keys = sound();
  ASSERT_THAT(findings_of(keys.context, keys.kvs()), IsEmpty());
  GetParam().plant(keys);
  EXPECT_THAT(findings_of(keys.context, keys.kvs()), Contains(StartsWith(GetParam().finding)));
}

std::string test_name(const testing::TestParamInfo<Damage>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Tree, Damages, testing::ValuesIn(tree_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Record, Damages, testing::ValuesIn(record_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Map, Damages, testing::ValuesIn(map_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Holder, Damages, testing::ValuesIn(holder_damages()), test_name);

}  // namespace
}  // namespace symnas::fs::test
