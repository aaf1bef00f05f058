#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::fs::test {

namespace keys = kv::keys;

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

}  // namespace symnas::fs::test
