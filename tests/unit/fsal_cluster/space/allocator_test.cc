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

}  // namespace
}  // namespace symnas::fs
