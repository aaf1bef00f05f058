// Owner records that are damaged: nobody allocates where another mount may.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/fsal_cluster/space/space_world.h"

namespace symnas::fs {
namespace {

class OwnersTest : public SpaceTest {
 protected:
  void erase_owner(std::uint32_t group) {
    kv::Mutation mutation;
    mutation.writes = {kv::erase(kv::keys::group_owner(world.fs(), group))};
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  }
};

TEST_F(OwnersTest, AGroupWithUsedBlocksAndNoOwnerRecordIsNotClaimed) {
  announce(kAll);
  record({3, 5});  // in group 0, whose owner record was lost
  EXPECT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
  while (const auto run = space->allocate({.blocks = kGroup})) EXPECT_EQ(run->start / kGroup, 1u);
  EXPECT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kNone);
  EXPECT_EQ(owner_of(0), MountId{0});
  owned_by(MountId{0}, 0, 1);  // repaired
  EXPECT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
  EXPECT_EQ(owner_of(0), world.context().mount);
}

TEST_F(OwnersTest, AGroupThatAnotherMountHasIsLost) {
  groups = 1;
  claim(1);
  ASSERT_TRUE(space->read_owners());
  EXPECT_FALSE(lost);
  owned_by(kOther, 0, 1);
  ASSERT_TRUE(space->read_owners());
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->code, ErrorCode::kFenced);
}

TEST_F(OwnersTest, AGroupWithoutOwnerRecordIsLost) {
  groups = 1;
  claim(1);
  erase_owner(0);
  ASSERT_TRUE(space->read_owners());
  EXPECT_TRUE(lost);
}

TEST_F(OwnersTest, ALookAtOneGroupFindsThatItIsLost) {
  claim(2);
  ASSERT_TRUE(space->look_at_owner(0));
  ASSERT_TRUE(space->look_at_owner(kGroup));
  EXPECT_FALSE(lost);
  erase_owner(1);
  ASSERT_TRUE(space->look_at_owner(0));
  EXPECT_FALSE(lost);
  ASSERT_TRUE(space->look_at_owner(kGroup + 3));
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->code, ErrorCode::kFenced);
}

// Once this went on for ever: the erased record was compared again and again.
TEST_F(OwnersTest, ATakeOverEndsThoughAnOwnerRecordIsGone) {
  owned_before(MountId{98});
  erase_owner(0);
  ASSERT_TRUE(space->take_over(MountId{98}));
  EXPECT_EQ(owner_of(1), MountId{0});
  EXPECT_FALSE(lost) << "it was not this mount's";
}

}  // namespace
}  // namespace symnas::fs
