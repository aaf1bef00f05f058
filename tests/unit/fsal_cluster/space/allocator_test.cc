#include "fsal_cluster/space/allocator.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

TEST(Allocator, HandsOutOnlyOwnedGroups) {
  Allocator allocator(100);
  EXPECT_FALSE(allocator.allocate({.blocks = 1}).has_value());
  allocator.add_group(FreeMap::without({200, 100}, {{200, 90}}));
  EXPECT_TRUE(allocator.owns(250));
  EXPECT_FALSE(allocator.owns(100));
  EXPECT_EQ(allocator.allocate({.blocks = 20}), (BlockRun{290, 10}));
  EXPECT_FALSE(allocator.allocate({.blocks = 1}).has_value());
}

TEST(Allocator, PrefersAGroupThatHoldsAllOfIt) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {{10, 90}}));
  allocator.add_group(FreeMap::without({100, 100}, {}));
  EXPECT_EQ(allocator.allocate({.blocks = 50})->start, 100u);
  EXPECT_EQ(allocator.allocate({.blocks = 5, .goal = 3}), (BlockRun{3, 5}));
}

TEST(Allocator, FreedBlocksWaitForTheIoThatHadBegun) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {}));
  const auto run = allocator.allocate({.blocks = 100});
  const auto io = allocator.begin_io();
  allocator.release(*run);
  EXPECT_EQ(allocator.waiting_blocks(), 100u);
  EXPECT_FALSE(allocator.allocate({.blocks = 1}).has_value());
  allocator.end_io(io);
  EXPECT_EQ(allocator.free_blocks(), 100u);
  EXPECT_TRUE(allocator.allocate({.blocks = 1}).has_value());
}

TEST(Allocator, AClaimedGroupWaitsToo) {
  Allocator allocator(100);
  const auto io = allocator.begin_io();  // reads what was there before the claim
  allocator.add_group(FreeMap::without({0, 100}, {}));
  EXPECT_FALSE(allocator.allocate({.blocks = 1}).has_value());
  allocator.end_io(io);
  EXPECT_TRUE(allocator.allocate({.blocks = 1}).has_value());
}

TEST(Allocator, WhatWasNeverVisibleComesBackAtOnce) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {}));
  const auto run = allocator.allocate({.blocks = 100});
  const auto io = allocator.begin_io();
  allocator.give_back({run->start, 10});
  EXPECT_TRUE(allocator.allocate({.blocks = 10}).has_value());
  allocator.end_io(io);
}

TEST(Allocator, FreesInForeignGroupsAreForgotten) {
  Allocator allocator(100);
  allocator.release({500, 10});
  EXPECT_EQ(allocator.free_blocks() + allocator.waiting_blocks(), 0u);
}

// INV-6 over mounts: the own I/O has ended, and all other mounts have announced that theirs has.
TEST(Allocator, BesideOthersAFreeWaitsForWhatTheyAnnounce) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {}));
  const auto run = allocator.allocate({.blocks = 100});
  allocator.set_horizon({.alone = false, .quiesced = Revision{1000}});
  allocator.release(*run);
  EXPECT_EQ(allocator.free_blocks(), 0u) << "its revision is not known yet";
  EXPECT_TRUE(allocator.undated());
  allocator.date(allocator.newest_free(), Revision{1001});
  EXPECT_FALSE(allocator.undated());
  EXPECT_EQ(allocator.free_blocks(), 0u);
  allocator.set_horizon({.alone = false, .quiesced = Revision{1001}});
  EXPECT_EQ(allocator.free_blocks(), 100u);
}

TEST(Allocator, AFreeIsNotDatedByARevisionReadBeforeIt) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {}));
  const auto run = allocator.allocate({.blocks = 100});
  allocator.set_horizon({.alone = false, .quiesced = Revision{10}});
  allocator.release({run->start, 10});
  const auto first = allocator.newest_free();
  allocator.release({run->start + 10, 90});
  allocator.date(first, Revision{5});
  EXPECT_EQ(allocator.free_blocks(), 10u);
  EXPECT_TRUE(allocator.undated());
  allocator.set_horizon({.alone = true, .quiesced = {}});
  EXPECT_EQ(allocator.free_blocks(), 100u) << "alone, nobody else is waited for";
  EXPECT_FALSE(allocator.undated());
}

TEST(Allocator, ReclaimsWhatOthersHaveFreedAndNothingElse) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {{0, 20}}));
  const auto mine = allocator.allocate({.blocks = 10});
  EXPECT_EQ(*mine, (BlockRun{20, 10}));
  allocator.set_horizon({.alone = false, .quiesced = Revision{10}});
  const auto reclaim = [&](const std::vector<BlockRun>& used) {
    allocator.begin_reclaim();
    return allocator.reclaim(0, used, {{0, 2}});
  };
  EXPECT_EQ(reclaim({{5, 15}}), 3u) << "2 to 4; 0 and 1 are being freed here";
  EXPECT_EQ(allocator.waiting_blocks(), 3u);
  EXPECT_EQ(reclaim({{5, 15}}), 0u) << "they wait already";
  // Recorded, then freed by another mount.
  EXPECT_EQ(reclaim({{5, 15}, {20, 4}}), 0u);
  EXPECT_EQ(reclaim({{5, 15}}), 4u) << "24 to 29 may not be recorded yet";
}

// The read of the reverse map may have seen an older use of a block that has been handed out since.
TEST(Allocator, WhatIsHandedOutWhileTheMapIsReadStaysSo) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {{0, 90}}), Allocator::Used::kNever);
  allocator.begin_reclaim();
  ASSERT_EQ(allocator.allocate({.blocks = 10}), (BlockRun{90, 10}));
  EXPECT_EQ(allocator.reclaim(0, {{0, 100}}, {}), 0u);
  allocator.begin_reclaim();
  EXPECT_EQ(allocator.reclaim(0, {{0, 90}}, {}), 0u) << "90 to 99 may not be recorded yet";
  EXPECT_FALSE(allocator.is_idle(0));
}

TEST(Allocator, WhatIsRecordedComesBackWhenOthersFreeIt) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {}), Allocator::Used::kNever);
  ASSERT_EQ(allocator.allocate({.blocks = 10}), (BlockRun{0, 10}));
  allocator.begin_reclaim();
  allocator.recorded({0, 10});
  EXPECT_EQ(allocator.reclaim(0, {}, {}), 0u) << "what is read may be older";
  EXPECT_TRUE(allocator.is_idle(0));
  allocator.begin_reclaim();
  EXPECT_EQ(allocator.reclaim(0, {{0, 4}}, {}), 6u) << "freed by another mount";
}

TEST(Allocator, AnIdleGroupIsForgotten) {
  Allocator allocator(100);
  allocator.add_group(FreeMap::without({0, 100}, {{0, 50}}), Allocator::Used::kNever);
  allocator.add_group(FreeMap::without({100, 100}, {}), Allocator::Used::kNever);
  const auto run = allocator.allocate({.blocks = 10, .goal = 50});
  EXPECT_FALSE(allocator.is_idle(0));
  EXPECT_TRUE(allocator.is_idle(1));
  EXPECT_EQ(allocator.remove_group(1), 100u);
  EXPECT_FALSE(allocator.owns(150));
  EXPECT_EQ(allocator.free_blocks(), 40u);
  const auto io = allocator.begin_io();
  allocator.release(*run);
  EXPECT_FALSE(allocator.is_idle(0)) << "its block waits";
  allocator.end_io(io);
  EXPECT_TRUE(allocator.is_idle(0));
  EXPECT_EQ(allocator.allocate({.blocks = 50})->blocks, 50u);
  EXPECT_FALSE(allocator.allocate({.blocks = 1}));
}

TEST(Allocator, MarksSayWhenWhatHadBegunHasEnded) {
  Allocator allocator(100);
  const auto early = allocator.begin_io();
  const auto mark = allocator.mark();
  const auto late = allocator.begin_io();
  EXPECT_FALSE(allocator.ended_before(mark));
  allocator.end_io(early);
  EXPECT_TRUE(allocator.ended_before(mark));
  allocator.end_io(late);
}

}  // namespace
}  // namespace symnas::fs
