#include "fsal_cluster/data/file_table.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

constexpr std::uint64_t kGroupBlocks = 64;

std::size_t known(FileTable& table) {
  std::size_t files = 0;
  table.for_each([&files](FileState& f) {
    const MutexLock lock(f.mutex);
    ++files;
  });
  return files;
}

TEST(FileTable, AnInodeHasOneFile) {
  FileTable table(kGroupBlocks);
  EXPECT_EQ(table.find(Ino{7}), nullptr);
  const FilePtr f = table.file(Ino{7});
  EXPECT_EQ(f->ino, Ino{7});
  EXPECT_EQ(table.file(Ino{7}), f);
  EXPECT_EQ(table.find(Ino{7}), f);
  EXPECT_NE(table.file(Ino{8}), f);
  EXPECT_EQ(known(table), 2U);
}

TEST(FileTable, NoVersionComesTwice) {
  FileTable table(kGroupBlocks);
  const FilePtr one = table.file(Ino{1});
  const FilePtr two = table.file(Ino{2});
  const std::uint64_t next = table.next_version();
  const MutexLock lock(one->mutex);
  const MutexLock also(two->mutex);
  EXPECT_NE(one->version, two->version);
  EXPECT_NE(one->version, next);
  EXPECT_NE(two->version, next);
}

TEST(FileTable, AFileThatWasNotLoadedIsForgotten) {
  FileTable table(kGroupBlocks);
  FilePtr f = table.file(Ino{7});
  table.forget_unused(f);
  EXPECT_EQ(table.find(Ino{7}), nullptr);
}

TEST(FileTable, AFileThatSomebodyElseRefersToStays) {
  FileTable table(kGroupBlocks);
  const FilePtr f = table.file(Ino{7});
  const FilePtr other = f;
  table.forget_unused(f);
  EXPECT_EQ(table.find(Ino{7}), f);
}

TEST(FileTable, ALoadedFileStaysUntilItIsRemoved) {
  FileTable table(kGroupBlocks);
  const FilePtr f = table.file(Ino{7});
  {
    const MutexLock lock(f->mutex);
    f->loaded = true;
  }
  table.forget_unused(f);
  EXPECT_EQ(table.find(Ino{7}), f);
  {
    const MutexLock lock(f->mutex);
    f->removed = true;
  }
  table.forget_unused(f);
  EXPECT_EQ(table.find(Ino{7}), nullptr);
}

TEST(FileTable, AnotherFileOfThatNumberStays) {
  FileTable table(kGroupBlocks);
  const FilePtr old = table.file(Ino{7});
  table.forget_unused(old);
  const FilePtr now = table.file(Ino{7});
  ASSERT_NE(now, old);
  table.forget_unused(old);
  EXPECT_EQ(table.find(Ino{7}), now);
}

TEST(FileTable, IdleFilesAreForgottenOnceThereAreMany) {
  FileTable table(kGroupBlocks);
  const FilePtr held = table.file(Ino{1});
  {
    const FilePtr f = table.file(Ino{2});
    const MutexLock lock(f->mutex);
    f->listed = true;
  }
  for (std::uint64_t n = 3; n < kFileStatesMax + kFileTableShards * 4; ++n) table.file(Ino{n});
  EXPECT_LE(known(table), kFileStatesMax + kFileTableShards);
  EXPECT_EQ(table.find(Ino{1}), held);
  EXPECT_NE(table.find(Ino{2}), nullptr);
}

}  // namespace
}  // namespace symnas::fs
