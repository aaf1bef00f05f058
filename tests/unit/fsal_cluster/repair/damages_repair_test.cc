// Every damage that the check's tests plant is repaired, or refused with its reason; while a mount
// works on, and without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/fsal_cluster/repair/repair_world.h"

namespace symnas::fs::test {
namespace {

using testing::IsEmpty;
using testing::Not;

// What nobody can prove.
const std::set<std::string> kRefused = {"InodeRecord",
                                        "NamesRecord",
                                        "MapRecord",
                                        "UnknownWatchedTable",
                                        "UnknownArea",
                                        "ShapeOfKey",
                                        "ReservedInodeNumber",
                                        "TwoOwnersOfABlock",
                                        "ExtentBeyondTheVolume",
                                        "ExtentOverTwoGroups",
                                        "BitmapOfExtent",
                                        "ExtentsOverlapInTheFile",
                                        "MapBehindTheEnd",
                                        "MissingMapChunk",
                                        "MapGenerationOfTheFuture",
                                        "ShapeOfSlot",
                                        "LockUnderAnothersKey",
                                        "EndedMountThatNobodyRecovers",
                                        "ConflictingLocks",
                                        "DeadMapThatNobodyFrees",
                                        "LockRecord"};
// What a living mount has in memory: its VNFS is to be moved or stopped first.
const std::set<std::string> kRefusedWhileMounted = {
    "MapChunkOfAnInlineFile", "EmptyMapChunk",      "TokenOfAMissingFile",
    "GroupOfAnUnknownMount",  "GroupWithoutOwner",  "GroupBeyondTheVolume",
    "LockOfAMissingFile",     "LockOfAMissingVnfs", "LockOfNoByte",
    "NameOfAMissingInode",    "MapOfAMissingFile",  "MapThatItsOrphanRecordKeeps"};
// Another mount that is no mount: that the first one has ended is a finding then.
const std::set<std::string> kLeavesAnEndedMount = {"MountId"};

class DamagesRepair : public testing::TestWithParam<Damage> {
 protected:
  // What is changed is compared: a racing change makes the step do nothing.
  static void compares_what_it_changes(const repair::Plan& plan) {
    for (const repair::Step& step : plan.steps) {
      for (const repair::Change& change : step.changes) {
        EXPECT_TRUE(std::any_of(step.compares.begin(), step.compares.end(),
                                [&](const kv::Compare& compare) {
                                  return compare.range == kv::single_key(change.key);
                                }))
            << step.object;
      }
    }
  }
  // Repairs all that can be; checks that the rest is refused with a reason.
  void repaired(RepairWorld& world, bool all) {
    world.plant(GetParam().plant);
    const repair::Plan first = world.plan();
    ASSERT_THAT(first.steps, Not(IsEmpty()));
    compares_what_it_changes(first);
    const repair::Plan left = world.repair_all();
    if (all) {
      EXPECT_THAT(lines(left), IsEmpty());
      return;
    }
    EXPECT_TRUE(std::any_of(left.steps.begin(), left.steps.end(), [](const repair::Step& step) {
      return step.verdict == repair::Verdict::kRefuse;
    }));
    for (const repair::Step& step : left.steps) {
      EXPECT_GT(step.text.size(), 20U) << step.object;
      EXPECT_THAT(step.changes, IsEmpty());
    }
  }
};

TEST_P(DamagesRepair, UnderAMount) {
  RepairWorld world(RepairWorld::Mounted::kSole);
  const std::string name = GetParam().name;
  const bool refused = kRefused.contains(name) || kRefusedWhileMounted.contains(name);
  repaired(world, !refused);
  // The mount goes on.
  if (name == "EndedMountThatNobodyRecovers" || name == "MissingRoot" ||
      name.starts_with("Group") || name == "ReservedInodeNumber")
    return;
  const Handle file = world.world.create(world.world.root(), "after");
  world.world.write(file, 0, 20'000);
  if (refused) return;
  EXPECT_THAT(lines(world.plan()), IsEmpty());
}

TEST_P(DamagesRepair, WithoutAMount) {
  RepairWorld world(RepairWorld::Mounted::kNone);
  const std::string name = GetParam().name;
  repaired(world, !kRefused.contains(name) && !kLeavesAnEndedMount.contains(name));
}

std::string test_name(const testing::TestParamInfo<Damage>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Tree, DamagesRepair, testing::ValuesIn(tree_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Record, DamagesRepair, testing::ValuesIn(record_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Map, DamagesRepair, testing::ValuesIn(map_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Holder, DamagesRepair, testing::ValuesIn(holder_damages()), test_name);

}  // namespace
}  // namespace symnas::fs::test
