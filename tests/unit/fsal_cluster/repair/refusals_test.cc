// What the repair must not do, because another file may have the blocks, or a client moves
// directories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/repair/repair_world.h"

namespace symnas::fs::test {
namespace {

namespace keys = kv::keys;
using check::Fault;
using testing::IsEmpty;

records::ReverseMap entry_of(Ino ino, std::uint64_t file_block, std::uint32_t blocks) {
  records::ReverseMap record;
  record.set_ino(ino.value());
  record.set_file_block(file_block);
  record.set_blocks(blocks);
  return record;
}

class RefusalsTest : public testing::Test {
 protected:
  std::string value(const std::string& key) {
    const auto found = kv::range_blocking(world.world.store, kv::single_key(key), 1, 1000);
    return found && !found->kvs.empty() ? found->kvs.front().value : "";
  }
  std::string reverse(std::uint64_t block) const {
    return keys::reverse_map(world.world.fs,
                             static_cast<std::uint32_t>(block / CheckWorld::kGroupBlocks), block);
  }
  static const repair::Step* step_of(const repair::Plan& plan, Fault fault) {
    for (const repair::Step& step : plan.steps)
      if (step.finding.damage.fault == fault) return &step;
    return nullptr;
  }
  RepairWorld world{RepairWorld::Mounted::kNone};
};

// A name that is there twice, the first time with a wrong type: that one is mended.
TEST_F(RefusalsTest, OneOfTwoEqualNamesHasAWrongType) {
  world.plant([](Keys& k) {
    k.edit<records::DirentBucket>(k.bucket(kDirC, "empty"), [](records::DirentBucket& b) {
      *b.add_entries() = b.entries(0);
      b.mutable_entries(0)->set_type(2);
      b.mutable_entries(1)->set_slot(1);
    });
  });
  EXPECT_THAT(lines(world.repair_all()), IsEmpty());
}

// By its record the directory is in the root, its only name lies below itself.
TEST_F(RefusalsTest, ADirectoryWhoseOnlyNameIsBelowItself) {
  world.plant([](Keys& k) {
    k.erase(k.bucket(kRootIno, "a"));
    k.add_name(kDirC, "a", kDirA, FileType::kDirectory);
    k.edit_inode(kDirA, [](records::Inode& inode) { inode.set_parent(kDirC.value()); });
    k.edit_inode(kDirC, [](records::Inode& inode) { inode.set_parent(kRootIno.value()); });
  });
  EXPECT_THAT(lines(world.repair_all()), IsEmpty());
}

// A sweep of the dead map would free the blocks of the file that has them by now.
TEST_F(RefusalsTest, ADeadMapWithBlocksOfAnotherFileIsNotSwept) {
  std::uint64_t block = 0;
  world.plant([&](Keys& k) {
    block = k.record<records::MapChunk>(k.chunk(kLarge)).extents(0).volume_block();
    k.erase(keys::inode(k.fs, kLarge));
    k.edit<records::ReverseMap>(k.reverse(block),
                                [](records::ReverseMap& r) { r.set_ino(kSmall.value()); });
  });
  const std::string before = value(reverse(block));
  const repair::Plan left = world.repair_all();
  const repair::Step* step = step_of(left, Fault::kMapOfNothing);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->verdict, repair::Verdict::kRefuse);
  EXPECT_EQ(value(keys::orphan(world.world.fs, kLarge)), "");
  EXPECT_EQ(value(reverse(block)), before);
}

TEST_F(RefusalsTest, ADeadMapBesideAWatermark) {
  world.plant([](Keys& k) {
    k.edit_inode(kLarge, [](records::Inode& i) {
      i.set_map_generation(1);
      i.set_used_blocks(0);
      i.set_trim_block(0);
    });
  });
  const repair::Plan left = world.repair_all();
  for (const Fault fault : {Fault::kDeadMap, Fault::kWatermark}) {
    const repair::Step* step = step_of(left, fault);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->verdict, repair::Verdict::kRefuse) << step->text;
  }
  EXPECT_EQ(value(keys::orphan(world.world.fs, kLarge)), "");
}

// Entries of a missing file among the blocks go with the mark.
TEST_F(RefusalsTest, LostEntriesAmongUnmarkedBlocks) {
  std::uint64_t block = 0;
  world.plant([&](Keys& k) {
    block = k.block_of(kSmall);
    k.erase(k.reverse(block));
    k.put(k.reverse(block + 1), entry_of(kNobody, 0, 1));
  });
  const repair::Plan first = world.plan();
  const repair::Step* lost = step_of(first, Fault::kReverseLost);
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->verdict, repair::Verdict::kLater) << lost->text;
  EXPECT_THAT(lines(world.repair_all()), IsEmpty());
  EXPECT_NE(value(reverse(block)), "");
  EXPECT_EQ(value(reverse(block + 1)), "");
}

// The mark is refused: nothing is freed.
TEST_F(RefusalsTest, NoFreeWhileBlocksAreUnmarked) {
  std::uint64_t block = 0;
  world.plant([&](Keys& k) {
    block = k.block_of(kSmall);
    k.erase(k.reverse(block));
    k.put(k.reverse(block + 1), entry_of(kEmpty, 9, 1));
  });
  const repair::Plan left = world.repair_all();
  const repair::Step* mark = step_of(left, Fault::kReverseMissing);
  ASSERT_NE(mark, nullptr);
  EXPECT_EQ(mark->verdict, repair::Verdict::kRefuse);
  EXPECT_NE(value(reverse(block + 1)), "");
}

// A file whose record cannot be read may need the entry.
TEST_F(RefusalsTest, AnEntryOfAnUnreadableFileIsNotReplaced) {
  std::uint64_t block = 0;
  world.plant([&](Keys& k) {
    block = k.block_of(kSmall);
    k.put(k.reverse(block), entry_of(kHoles, 0, 3));
    k.put(keys::inode(k.fs, kHoles), "\xff\xff");
  });
  const std::string before = value(reverse(block));
  const repair::Plan left = world.repair_all();
  const repair::Step* mark = step_of(left, Fault::kReverseDiffers);
  ASSERT_NE(mark, nullptr);
  EXPECT_EQ(mark->verdict, repair::Verdict::kRefuse);
  EXPECT_EQ(value(reverse(block)), before);
}

// A rename that read the parents before the repair must look again.
TEST_F(RefusalsTest, RepairsOfParentsCountAsDirectoryMoves) {
  world.plant(
      [](Keys& k) { k.edit_inode(kDirB, [](records::Inode& i) { i.set_parent(kDirC.value()); }); });
  const std::string move = keys::directory_move(world.world.fs);
  bool seen = false;
  for (const repair::Step& step : world.plan().steps) {
    if (step.verdict != repair::Verdict::kRepair) continue;
    for (const repair::Change& change : step.changes) seen = seen || change.key == move;
  }
  EXPECT_TRUE(seen);
  EXPECT_THAT(lines(world.repair_all()), IsEmpty());
}

}  // namespace
}  // namespace symnas::fs::test
