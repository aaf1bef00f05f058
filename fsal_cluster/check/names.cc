#include "fsal_cluster/check/names.h"

#include <utility>

#include <fmt/core.h>

#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::check {
namespace {

std::string quoted(std::string_view name) { return "'" + printable(name) + "'"; }

}  // namespace

Names::Names(InodeTable& inodes, const Orphans& orphans, std::optional<NameHasher> hasher,
             Findings& findings, Summary& summary)
    : inodes_(inodes), orphans_(orphans), hasher_(hasher), findings_(findings), summary_(summary) {}

void Names::take_bucket(Ino directory, std::uint64_t hash, std::string_view value) {
  records::DirentBucket bucket;
  if (!bucket.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    findings_.add(Kind::kRecord, directory,
                  fmt::format("its names of hash {:#x} cannot be parsed", hash),
                  {.fault = Fault::kUnreadableNames, .value = hash});
    return;
  }
  const InodeRow* row = inodes_.find(directory);
  if (row == nullptr) {
    const std::string name =
        bucket.entries_size() > 0 ? quoted(bucket.entries(0).name()) : "an empty bucket";
    findings_.add(Kind::kTree, directory, "does not exist, but has the name " + name,
                  {.fault = Fault::kNamesWithoutDirectory, .value = hash});
  } else if (row->readable() && !row->is(FileType::kDirectory)) {
    findings_.add(Kind::kTree, directory, "has names, but is no directory",
                  {.fault = Fault::kNamesOfNoDirectory, .value = hash});
  }
  if (bucket.entries_size() == 0)
    findings_.add(Kind::kName, directory, fmt::format("an empty bucket of hash {:#x}", hash),
                  {.fault = Fault::kBucketForm, .value = hash});
  if (hash == 0 || hash >= kNameHashEnd)
    findings_.add(Kind::kName, directory,
                  fmt::format("a bucket of the impossible hash {:#x}", hash),
                  {.fault = Fault::kBucketForm, .value = hash});
  for (int i = 0; i < bucket.entries_size(); ++i) {
    check_place(directory, hash, bucket, i);
    take_entry(row, directory, hash, bucket.entries(i));
  }
}

// Checks that READDIR and LOOKUP find the name.
void Names::check_place(Ino directory, std::uint64_t hash, const records::DirentBucket& bucket,
                        int index) {
  const records::Dirent& entry = bucket.entries(index);
  const auto wrong = [&](Fault fault, std::string_view what) {
    findings_.add(Kind::kName, directory, fmt::format("name {}: {}", quoted(entry.name()), what),
                  {.fault = fault, .value = hash, .name = entry.name()});
  };
  if (!check_name(entry.name())) wrong(Fault::kNameForm, "is no name that a directory may have");
  if (hasher_ && hasher_->hash(entry.name()) != hash)
    wrong(Fault::kNamePlace, fmt::format("lies under hash {:#x}, its hash is {:#x}", hash,
                                         hasher_->hash(entry.name())));
  if (entry.slot() >= kBucketEntriesMax)
    wrong(Fault::kNamePlace, fmt::format("has slot {}", entry.slot()));
  if (index > 0 && entry.slot() <= bucket.entries(index - 1).slot())
    wrong(Fault::kNamePlace,
          fmt::format("slot {} follows slot {}", entry.slot(), bucket.entries(index - 1).slot()));
  for (int other = 0; other < index; ++other)
    if (bucket.entries(other).name() == entry.name()) wrong(Fault::kNameTwice, "is there twice");
}

void Names::take_entry(const InodeRow* directory, Ino directory_ino, std::uint64_t hash,
                       const records::Dirent& entry) {
  ++summary_.names;
  InodeRow* target = inodes_.find(Ino{entry.ino()});
  if (target == nullptr) {
    findings_.add(Kind::kTree, directory_ino,
                  fmt::format("name {} leads to inode {}, which does not exist",
                              quoted(entry.name()), entry.ino()),
                  {.fault = Fault::kNameOfNothing,
                   .value = hash,
                   .other = entry.ino(),
                   .name = entry.name()});
    return;
  }
  ++target->names;
  if (directory != nullptr && target->name_row == InodeRow::kNoRow) {
    target->name_row = inodes_.index_of(*directory);
    target->name_hash = hash;
  }
  if (target->readable() && target->type != entry.type())
    findings_.add(
        Kind::kName, directory_ino,
        fmt::format("name {} says type {}, inode {} is of type {}", quoted(entry.name()),
                    entry.type(), target->ino, target->type),
        {.fault = Fault::kNameType, .value = hash, .other = entry.ino(), .name = entry.name()});
  if (Ino{target->ino} == kRootIno)
    findings_.add(Kind::kTree, directory_ino,
                  fmt::format("name {} leads to the root directory", quoted(entry.name())),
                  {.fault = Fault::kNameOfRoot, .value = hash, .name = entry.name()});
  else if (target->is(FileType::kDirectory) && target->parent != directory_ino.value())
    findings_.add(Kind::kTree, Ino{target->ino},
                  fmt::format("its record has inode {} as parent, its name {} is in inode {}",
                              target->parent, quoted(entry.name()), directory_ino.value()),
                  {.fault = Fault::kParentDiffers,
                   .value = hash,
                   .other = directory_ino.value(),
                   .name = entry.name()});
}

void Names::check_root() {
  const InodeRow* root = inodes_.find(kRootIno);
  if (root == nullptr) {
    findings_.add(Kind::kTree, kRootIno, "the root directory does not exist",
                  {.fault = Fault::kRootMissing});
  } else if (root->readable() && !root->is(FileType::kDirectory)) {
    findings_.add(Kind::kTree, kRootIno, "the root is no directory");
  } else if (root->readable() && root->parent != kRootIno.value()) {
    findings_.add(Kind::kTree, kRootIno,
                  fmt::format("the root has inode {} as parent, not itself", root->parent),
                  {.fault = Fault::kRootParent});
  }
}

void Names::check_links(const InodeRow& row) {
  const Ino ino{row.ino};
  if (row.is(FileType::kDirectory)) {
    if (ino == kRootIno) return;
    if (row.names == 0)
      findings_.add(Kind::kTree, ino, "a directory to which no name leads",
                    {.fault = Fault::kDirectoryNameless});
    if (row.names > 1)
      findings_.add(Kind::kTree, ino, fmt::format("a directory to which {} names lead", row.names),
                    {.fault = Fault::kDirectoryNames, .value = row.names});
    return;
  }
  if (row.names != row.nlink)
    findings_.add(Kind::kLinks, ino,
                  fmt::format("nlink is {}, {} {} to it", row.nlink, row.names,
                              row.names == 1 ? "name leads" : "names lead"),
                  {.fault = Fault::kLinkCount, .value = row.names});
  else if (row.nlink == 0 && !orphans_.is_open(ino))
    findings_.add(Kind::kLinks, ino, "has no link, and no orphan record says that it is open",
                  {.fault = Fault::kNameless});
}

// Follows the parents to the root, or to a directory that an earlier walk has reached.
void Names::walk_up(std::uint32_t index) {
  const auto walk = index + 1;
  way_.clear();
  std::uint32_t at = index;
  for (;;) {
    InodeRow& row = inodes_.at(at);
    if (row.reached || !row.is(FileType::kDirectory)) break;
    if (walk_of_[at] == walk) {
      findings_.add(Kind::kTree, Ino{row.ino}, "is its own ancestor: a cycle of directories",
                    {.fault = Fault::kCycle});
      break;
    }
    walk_of_[at] = walk;
    way_.push_back(at);
    if (Ino{row.ino} == kRootIno) break;
    const InodeRow* parent = inodes_.find(Ino{row.parent});
    if (parent == nullptr) {
      findings_.add(Kind::kTree, Ino{row.ino},
                    fmt::format("its parent, inode {}, does not exist", row.parent),
                    {.fault = Fault::kParentMissing});
      break;
    }
    if (parent->readable() && !parent->is(FileType::kDirectory))
      findings_.add(Kind::kTree, Ino{row.ino},
                    fmt::format("its parent, inode {}, is no directory", row.parent));
    at = inodes_.index_of(*parent);
  }
  for (const std::uint32_t met : way_) inodes_.at(met).reached = true;
}

void Names::finish() {
  check_root();
  walk_of_.assign(inodes_.rows().size(), 0);
  for (std::uint32_t index = 0; index < inodes_.rows().size(); ++index) {
    const InodeRow& row = inodes_.at(index);
    if (!row.readable()) continue;
    check_links(row);
    if (row.is(FileType::kDirectory)) walk_up(index);
  }
  walk_of_ = {};
}

}  // namespace symnas::fs::check
