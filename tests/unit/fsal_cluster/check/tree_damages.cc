#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::fs::test {

namespace keys = kv::keys;

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

}  // namespace symnas::fs::test
