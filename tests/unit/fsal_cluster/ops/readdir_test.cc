#include "fsal_cluster/ops/readdir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fsal_cluster/ops/unlink.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

class ReaddirTest : public testing::Test {
 protected:
  Result<DirectoryPage> read(std::uint64_t cookie, std::size_t entries_max) {
    return readdir(world.context(), world.root(), cookie, entries_max);
  }
  void fill(int files) {
    for (int i = 0; i < files; ++i) world.create(world.root(), "f" + std::to_string(i));
  }
  World world;
};

TEST_F(ReaddirTest, AnEmptyDirectoryEndsAtOnce) {
  const auto page = read(0, 10);
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->entries.empty());
  EXPECT_TRUE(page->end_of_directory);
}

TEST_F(ReaddirTest, EveryPageSizeListsEveryNameOnceInCookieOrder) {
  fill(20);
  for (const std::size_t size : {1, 3, 19, 20, 21}) {
    std::set<std::string> names;
    std::uint64_t cookie = 0;
    bool end = false;
    while (!end) {
      const auto page = read(cookie, size);
      ASSERT_TRUE(page);
      ASSERT_LE(page->entries.size(), size);
      for (const DirectoryEntry& entry : page->entries) {
        ASSERT_GT(entry.cookie, cookie);
        cookie = entry.cookie;
        EXPECT_TRUE(names.insert(entry.name).second);
      }
      end = page->end_of_directory;
    }
    EXPECT_EQ(names.size(), 20u) << "page size " << size;
  }
}

TEST_F(ReaddirTest, EntriesCarryAttributes) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.create(dir, "x");
  const auto page = read(0, 10);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->entries.size(), 1u);
  const Attributes& seen = page->entries[0].attributes;
  const Attributes expected = world.attributes(dir);
  EXPECT_EQ(seen.handle, dir);
  EXPECT_EQ(seen.type, FileType::kDirectory);
  EXPECT_EQ(seen.change, expected.change) << "content times included";
}

TEST_F(ReaddirTest, UncommittedSizesAreShown) {
  const Handle file = world.create(world.root(), "f");
  Overlay overlay;
  overlay.dirty = true;
  overlay.size_bytes = 12345;
  overlay.mtime_ns = world.session().next_time_ns();
  world.data().overlays[file.ino] = overlay;
  const auto page = read(0, 10);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries[0].attributes.size_bytes, 12345u);
}

TEST_F(ReaddirTest, ACookieOutlivesItsEntry) {
  fill(10);
  const auto first = read(0, 5);
  ASSERT_TRUE(first);
  const DirectoryEntry& last = first->entries.back();
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), last.name));
  const auto second = read(last.cookie, 10);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->entries.size(), 5u);
  EXPECT_TRUE(second->end_of_directory);
}

TEST_F(ReaddirTest, AnEntryWhoseInodeVanishedIsLeftOut) {
  fill(3);
  const auto all = read(0, 10);
  ASSERT_TRUE(all);
  kv::Mutation vanish;
  vanish.writes = {kv::erase(kv::keys::inode(world.fs(), all->entries[1].attributes.handle.ino))};
  ASSERT_TRUE(world.session().commit_blocking(vanish));
  const auto rest = read(0, 10);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->entries.size(), 2u);
  EXPECT_TRUE(rest->end_of_directory);
}

// 256 names of one hash are in one key: a page must end inside it, and the next one continue inside
// it.
TEST_F(ReaddirTest, PagesWithinOneBucket) {
  const Handle file = world.create(world.root(), "f");
  records::DirentBucket bucket;
  for (std::uint32_t slot = 0; slot < 6; ++slot) {
    auto* entry = bucket.add_entries();
    entry->set_slot(slot);
    entry->set_name("same" + std::to_string(slot));
    entry->set_ino(file.ino.value());
    entry->set_type(1);
  }
  kv::Mutation put;
  put.writes = {
      kv::put(kv::keys::dirent_bucket(world.fs(), kRootIno, 4711), bucket.SerializeAsString())};
  ASSERT_TRUE(world.session().commit_blocking(put));
  EXPECT_EQ(world.names(world.root()).size(), 7u);
  const auto page = read(std::uint64_t{4711} << 8 | 3, 1);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(page->entries[0].name, "same4");
  EXPECT_FALSE(page->end_of_directory);
}

TEST_F(ReaddirTest, Refusals) {
  for (const std::uint64_t cookie : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 63}) {
    const auto page = read(cookie, 10);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, ErrorCode::kBadCookie);
  }
  const auto of_file = readdir(world.context(), world.create(world.root(), "f"), 0, 10);
  ASSERT_FALSE(of_file);
  EXPECT_EQ(of_file.error().code, ErrorCode::kNotDirectory);
}

}  // namespace
}  // namespace symnas::fs
