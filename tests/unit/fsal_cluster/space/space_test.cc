// Space beside other mounts: blocks that are freed, found or claimed are handed out only when every
// other mount has announced that its earlier I/O has ended.
#include "fsal_cluster/space/space.h"

#include <gtest/gtest.h>

#include <optional>

#include "common/kv/keys.h"
#include "fsal_cluster/space/limits.h"
#include "tests/unit/fsal_cluster/space/space_world.h"

namespace symnas::fs {
namespace {

TEST_F(SpaceTest, AGroupThatNobodyEverHadWaitsForNobody) {
  EXPECT_EQ(make_room(), Space::Room::kMaybe);
  EXPECT_TRUE(space->allocate({.blocks = 1}));
}

TEST_F(SpaceTest, AClaimedGroupWaitsForTheOthers) {
  owned_before(MountId{98});
  EXPECT_EQ(make_room(), std::nullopt) << "the other one may still be reading there";
  EXPECT_FALSE(space->allocate({.blocks = 1}));
  announce(kAll);
  clock.advance_ns(kRoomPollMs * 1'000'000);
  background.run_due();
  EXPECT_TRUE(space->allocate({.blocks = 1}));
}

// INV-6: the group belongs to no mount now, but another mount owned it before.
TEST_F(SpaceTest, AGroupThatWasGivenBackWaitsForTheOthers) {
  owned_by(MountId{0}, 0, groups);
  space.reset();
  space = std::move(*Space::open(world.session(), clock, background, options()));
  EXPECT_EQ(make_room(), std::nullopt);
  EXPECT_FALSE(space->allocate({.blocks = 1}));
  announce(kAll);
  clock.advance_ns(kRoomPollMs * 1'000'000);
  background.run_due();
  EXPECT_TRUE(space->allocate({.blocks = 1}));
}

TEST_F(SpaceTest, AloneNobodyIsWaitedFor) {
  membership.turn_sole();
  EXPECT_EQ(make_room(), Space::Room::kMaybe);
  const auto run = space->allocate({.blocks = 8});
  ASSERT_TRUE(run);
  const auto free = space->ready_blocks();
  space->release(*run);
  EXPECT_EQ(space->ready_blocks(), free + 8);
}

TEST_F(SpaceTest, AFreeWaitsUntilTheOthersHaveQuiesced) {
  announce(kAll);
  ASSERT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
  const auto run = space->allocate({.blocks = 8});
  ASSERT_TRUE(run);
  background.run_due();  // claims ahead
  announce(1);
  peers.on_events({}, Revision{kAll});
  const auto free = space->ready_blocks();
  space->release(*run);
  background.run_due();
  space->announcement();
  EXPECT_EQ(space->ready_blocks(), free);
  announce(kAll);
  space->announcement();
  EXPECT_EQ(space->ready_blocks(), free + 8);
}

TEST_F(SpaceTest, QuiescedIsBehindTheOldestIo) {
  const auto io = space->begin_io();
  const Revision before = space->announcement().quiesced;
  record({0, 1});
  ASSERT_TRUE(world.session().barrier());
  EXPECT_EQ(space->announcement().quiesced, before);
  space->end_io(io);
  EXPECT_EQ(space->announcement().quiesced, world.session().applied());
}

TEST_F(SpaceTest, TakesWhatOthersHaveFreedBeforeItClaimsMore) {
  announce(kAll);
  ASSERT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
  const auto run = space->allocate({.blocks = kGroup});
  ASSERT_TRUE(run);
  ASSERT_EQ(run->blocks, kGroup);
  background.run_due();  // claims ahead
  const auto rest = space->allocate({.blocks = kGroup});
  ASSERT_TRUE(rest);
  record(*run);
  EXPECT_EQ(make_room(2 * kSharedRoomWaitMs * 1'000'000), Space::Room::kNone)
      << "the second one is handed out, though nothing of it is recorded";
  erase(*run);  // by another mount
  EXPECT_EQ(make_room(2 * kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
  EXPECT_EQ(space->allocate({.blocks = kGroup}), *run);
}

TEST_F(SpaceTest, AGroupThatChangesHandsWhileItIsClaimedIsNotGivenUp) {
  groups = 1;
  owned_before(MountId{98});
  membership.turn_sole();
  owned_by(MountId{0}, 0, groups);  // another mount has taken over from the ended one
  EXPECT_EQ(make_room(kRoomWaitMs * 1'000'000), Space::Room::kMaybe);
}

TEST_F(SpaceTest, ManyGroupsOfTheLivingDoNotHideAFreeOne) {
  groups = 2 * kClaimTriesMax + 1;
  owned_by(kOther, 0, groups - 1);
  EXPECT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
  EXPECT_EQ(space->allocate({.blocks = 1})->start / kGroup, groups - 1);
}

// Once a head that was paused while a write waited answered NFS3ERR_NOSPC when it went on.
TEST_F(SpaceTest, APauseIsNoReasonToBeFull) {
  owned_by(kOther, 0, groups);
  std::optional<Space::Room> answer;
  space->make_room([&](Result<Space::Room> room) { answer = *room; });
  background.run_due();
  clock.advance_ns(10 * kSharedRoomWaitMs * 1'000'000);
  background.run_due();
  EXPECT_EQ(answer, std::nullopt);
  owned_by(MountId{0}, 1, 2);
  announce(kAll);
  poll_for(answer);
  EXPECT_EQ(answer, Space::Room::kMaybe);
}

TEST_F(SpaceTest, AGroupGivenBackByAnotherIsFound) {
  owned_by(kOther, 0, groups);
  EXPECT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kNone);
  std::optional<Space::Room> answer;
  space->make_room([&](Result<Space::Room> room) { answer = *room; });
  background.run_due();
  EXPECT_TRUE(space->announcement().needs_space);
  owned_by(MountId{0}, 1, 2);
  announce(kAll);
  poll_for(answer);
  EXPECT_EQ(answer, Space::Room::kMaybe);
  EXPECT_EQ(space->allocate({.blocks = 1})->start / kGroup, 1u);
  EXPECT_FALSE(space->announcement().needs_space);
}

TEST_F(SpaceTest, WholeGroupsThatAreTooManyAreGivenBack) {
  groups = 10;
  announce(kAll);
  claim(8);
  space->announcement();
  background.run_due();
  EXPECT_EQ(own_groups(), kSurplusTimes);
  EXPECT_EQ(space->use()->free_blocks, groups * kGroup) << "nothing is lost by it";
  EXPECT_EQ(space->ready_blocks(), kSurplusTimes * kGroup);
}

TEST_F(SpaceTest, WhoNeedsSpaceGetsAllButTheGroupInUse) {
  groups = 4;
  announce(kAll);
  claim(4);
  const auto recorded = space->allocate({.blocks = 10});
  record(*recorded);
  const auto on_its_way = space->allocate({.blocks = kGroup});
  const auto last = space->allocate({.blocks = 1});
  ASSERT_NE(recorded->start / kGroup, on_its_way->start / kGroup);
  clock.advance_ns(2 * kReclaimNs);
  announce(kAll + 1, 0, true);
  space->announcement();
  background.run_due();
  EXPECT_EQ(own_groups(), 2u);
  EXPECT_EQ(owner_of(static_cast<std::uint32_t>(on_its_way->start / kGroup)), world.context().mount)
      << "of which a block may be recorded yet";
  EXPECT_EQ(owner_of(static_cast<std::uint32_t>(last->start / kGroup)), world.context().mount);
}

TEST_F(SpaceTest, UseFollowsWhatTheOthersAnnounce) {
  announce(kAll, 100);
  const auto before = space->use();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->free_blocks, 2 * kGroup) << "what was allocated before the count is in it";
  announce(kAll + 1, 130);
  EXPECT_EQ(space->use()->free_blocks, 2 * kGroup - 30);
  announce(kAll + 2, 90);
  EXPECT_EQ(space->use()->free_blocks, 2 * kGroup) << "never more than there is";
  record({0, 50});
  announce(kAll + 3, 150);
  clock.advance_ns(kRecountNs);
  EXPECT_EQ(space->use()->free_blocks, 2 * kGroup - 50);
  background.run_due();
  EXPECT_EQ(space->use()->free_blocks, 2 * kGroup - 50) << "counted again, from there on";
}

TEST_F(SpaceTest, WhoIsGoneHasNotGivenBackWhatItAllocated) {
  announce(kAll, 100);
  record({0, 100});
  ASSERT_TRUE(space->use());
  kv::WatchEvent gone{true, {kv::keys::mount(world.fs(), kOther), "", {}, Revision{kAll}, 1}};
  kv::WatchEvent silent{true, {kv::keys::heartbeat(world.fs(), kOther), "", {}, Revision{kAll}, 1}};
  peers.on_events({gone, silent}, Revision{kAll});
  ASSERT_TRUE(peers.allocated_blocks().empty());
  EXPECT_EQ(space->use()->free_blocks, 2 * kGroup - 100);
}

}  // namespace
}  // namespace symnas::fs
