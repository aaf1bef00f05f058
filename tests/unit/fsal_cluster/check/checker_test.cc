// Nothing is found in sound filesystems, made by the operations themselves.
#include "fsal_cluster/check/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/check/check_world.h"

namespace symnas::fs::test {
namespace {

using testing::IsEmpty;

TEST(Checker, A_new_filesystem_is_sound) {
  CheckWorld world;
  check::Checker checker(world.context());
  for (const auto& kv : in_order(world.fs, world.dump())) checker.take(kv);
  checker.finish();
  EXPECT_EQ(checker.findings().total(), 0u);
  EXPECT_EQ(checker.summary().directories, 1u);
}

TEST(Checker, A_mounted_filesystem_is_sound_whatever_was_done_in_it) {
  CheckWorld world;
  world.mount();
  EXPECT_THAT(findings_of(world.context(), world.dump()), IsEmpty()) << "just mounted";
  world.populate();
  EXPECT_THAT(findings_of(world.context(), world.dump()), IsEmpty());
}

TEST(Checker, What_an_ended_mount_has_left_is_no_finding_before_the_next_mount) {
  CheckWorld world;
  world.mount();
  world.populate();
  world.kill();
  EXPECT_THAT(findings_of(world.context(), world.dump()), IsEmpty()) << "killed";
  world.mount();
  world.close();
  EXPECT_THAT(findings_of(world.context(), world.dump()), IsEmpty()) << "recovered, closed";
}

TEST(Checker, Above_a_watermark_inside_a_chunk_nothing_counts) {
  CheckWorld world;
  world.mount();
  world.populate();
  auto kvs = world.dump();
  constexpr Ino kLarge{20};
  records::Orphan orphan;
  for (kv::KeyValue& kv : kvs) {
    if (kv.key != kv::keys::inode(world.fs, kLarge)) continue;
    records::Inode inode;
    ASSERT_TRUE(inode.ParseFromString(kv.value));
    inode.set_size_bytes(10 * 4096);
    inode.set_trim_block(10);
    kv.value = inode.SerializeAsString();
    orphan.set_generation(inode.generation());
  }
  orphan.set_truncated(true);
  orphan.set_map_generation(UINT32_MAX);  // the generation before the first
  kv::KeyValue added;
  added.key = kv::keys::orphan(world.fs, kLarge);
  added.value = orphan.SerializeAsString();
  kvs.push_back(added);
  EXPECT_THAT(findings_of(world.context(), kvs), IsEmpty());
}

TEST(Checker, Counts_what_there_is) {
  CheckWorld world;
  world.mount();
  world.populate();
  const check::Context context = world.context();
  check::Checker checker(context);
  for (const auto& kv : in_order(world.fs, world.dump())) checker.take(kv);
  checker.finish();
  EXPECT_EQ(checker.summary().directories, 5u);  // the root, a, b, c, here
  EXPECT_EQ(checker.summary().files, 6u);        // small, large, holes, empty, cut, the open one
  EXPECT_EQ(checker.summary().others, 2u);
  EXPECT_EQ(checker.summary().names, 12u);
  EXPECT_GT(checker.summary().used_blocks, 768u);
}

TEST(Checker, The_ranges_cover_every_key_of_the_filesystem_once) {
  const FsId fs{7};
  const auto ranges = check::ranges_in_order(fs);
  for (const char area : {'a', 'u', 'v', 'w', 'z'}) {
    for (char table = 'A'; table <= 'z'; ++table) {
      const std::string key = kv::keys::table(fs, area, table) + "x";
      int covered = 0;
      for (const kv::KeyRange& range : ranges) covered += kv::contains(range, key) ? 1 : 0;
      EXPECT_EQ(covered, 1) << area << table;
    }
  }
}

}  // namespace
}  // namespace symnas::fs::test
