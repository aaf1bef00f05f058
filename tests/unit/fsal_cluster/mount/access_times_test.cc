#include "fsal_cluster/mount/access_times.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/mount/limits.h"
#include "fsal_cluster/ops/unlink.h"
#include "fsal_cluster/schema/inode.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kS = 1'000'000'000;

records::Inode times(std::int64_t atime_s, std::int64_t mtime_s, std::int64_t ctime_s) {
  records::Inode inode;
  inode.set_atime_ns(atime_s * kS);
  inode.set_mtime_ns(mtime_s * kS);
  inode.set_ctime_ns(ctime_s * kS);
  return inode;
}

TEST(RelatimeTest, TheRuleIsThatOfRelatime) {
  EXPECT_TRUE(relatime_fires(times(10, 10, 5), 20 * kS));    // read after it was written
  EXPECT_TRUE(relatime_fires(times(10, 5, 12), 20 * kS));    // after its attributes were changed
  EXPECT_FALSE(relatime_fires(times(10, 5, 5), 20 * kS));    // it was read since
  EXPECT_FALSE(relatime_fires(times(1, 5, 21), 20 * kS));    // utimes after the read wins
  EXPECT_FALSE(relatime_fires(times(30, 40, 40), 20 * kS));  // nothing goes back
  EXPECT_TRUE(relatime_fires(times(10, 5, 5), 10 * kS + kAccessTimeAgeNs));
}

TEST(RelatimeTest, ARecordedOneIsNoChange) {
  const records::Inode before = times(1, 2, 3);
  Attributes shown;
  show(before, Revision(100), std::nullopt, 4096, shown);
  const std::uint64_t change = shown.change;

  records::Inode once = with_access_time(before, Revision(100), 9 * kS);
  show(once, Revision(120), std::nullopt, 4096, shown);
  EXPECT_EQ(shown.change, change);
  EXPECT_EQ(shown.ctime_ns, 3 * kS);
  records::Inode twice = with_access_time(once, Revision(120), 10 * kS);
  show(twice, Revision(130), std::nullopt, 4096, shown);
  EXPECT_EQ(shown.change, change);

  records::Inode changed;
  ASSERT_TRUE(changed.ParseFromString(changed_inode(twice)));
  show(changed, Revision(140), std::nullopt, 4096, shown);
  EXPECT_GT(shown.change, change);
}

// Writes in place that are counted from the record before the access time, or from the one with it.
TEST(RelatimeTest, TheChangeAttributeNeverStepsBack) {
  const records::Inode before = times(1, 2, 3);
  const records::Inode with = with_access_time(before, Revision(100), 9 * kS);
  Overlay overlay;
  overlay.dirty = true;
  Attributes shown;
  std::uint64_t last = 0;
  const auto look = [&](const records::Inode& record, std::int64_t revision, std::int64_t base,
                        std::uint32_t writes) {
    overlay.change_base = Revision(base);
    overlay.change_n = writes;
    show(record, Revision(revision), overlay, 4096, shown);
    EXPECT_GE(shown.change, last) << revision << " " << base << " " << writes;
    last = shown.change;
  };
  look(before, 100, 100, 0);
  look(before, 100, 100, 5);
  look(with, 120, 100, 5);  // the writer has not seen the new record yet
  look(with, 120, 120, 1);  // it counts anew
  EXPECT_EQ(last, (std::uint64_t{120} << 16) | 1);
  const records::Inode again = with_access_time(with, Revision(120), 10 * kS);
  look(again, 130, 120, 1);  // another access time was recorded beside it
  look(again, 130, 130, 1);
  look(before, 140, 120, 1);  // all is recorded
  overlay = {};
  show(with, Revision(120), overlay, 4096, shown);
  EXPECT_EQ(shown.change, std::uint64_t{100} << 16);  // nothing was written since
}

// The records of a mount.
class RecordedTimesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file = world.create(world.root(), "f").ino;
    clock.advance_ns(node().record.ctime_ns() + kS);
  }
  Node node() {
    const auto value = world.session().read(kv::keys::inode(world.fs(), file));
    return **parse_node(file, *value);
  }
  World world;
  Ino file;
  env::ManualClock clock{0};
  AccessTimes times{world.session(), clock, world.fs(), true};
};

TEST_F(RecordedTimesTest, OnceAfterAChange) {
  const Node before = node();
  times.note(file);
  times.note(file);
  EXPECT_EQ(times.record(), 1u);
  const Node after = node();
  EXPECT_EQ(after.record.atime_ns(), clock.wall_ns());
  EXPECT_EQ(after.record.ctime_ns(), before.record.ctime_ns());
  EXPECT_EQ(after.record.content_revision(), before.mod_revision.value());
  clock.advance_ns(kS);
  times.note(file);
  EXPECT_EQ(times.record(), 0u);  // it was read since it was changed
  EXPECT_EQ(times.record(), 0u);  // and nothing is noted
}

TEST_F(RecordedTimesTest, WhatIsSetAfterTheReadStays) {
  times.note(file);
  records::Inode set = node().record;
  set.set_atime_ns(7);
  set.set_ctime_ns(clock.wall_ns() + 1);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.writes = {kv::put(kv::keys::inode(world.fs(), file), changed_inode(set))};
  ASSERT_TRUE(world.session().commit_blocking(std::move(mutation)));
  EXPECT_EQ(times.record(), 0u);
  EXPECT_EQ(node().record.atime_ns(), 7);
}

TEST_F(RecordedTimesTest, WhatIsGoneOrNoFileIsLeftOut) {
  times.note(file);
  times.note(kRootIno);
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(times.record(), 0u);
}

TEST_F(RecordedTimesTest, WhenItIsOffNothingIsNoted) {
  AccessTimes off(world.session(), clock, world.fs(), false);
  off.note(file);
  EXPECT_EQ(off.record(), 0u);
  off.stop();
  off.stop();
}

}  // namespace
}  // namespace symnas::fs
