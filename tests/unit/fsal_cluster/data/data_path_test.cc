// What READ, WRITE and COMMIT cost in transactions and I/O, what they show, and how they fail.
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimVolume;
constexpr Ino kFile{42};
const std::string k8K(8192, 'a');

TEST(FileData, SmallFileIsTwoTransactions) {
  FileWorld world;
  world.create(kFile);
  world.settle();  // the first group is claimed in the background
  ASSERT_TRUE(world.write(Ino{1000}, 0, "x").has_value() == false);  // no such file
  world.create(Ino{1});
  ASSERT_TRUE(world.write(Ino{1}, 0, "first file claims a group").has_value());
  ASSERT_TRUE(world.commit(Ino{1}).has_value());
  world.settle();

  const std::size_t before = world.mutations();
  const std::string bytes = pattern(5000, 'A');
  world.create(Ino{2});
  ASSERT_TRUE(world.write(Ino{2}, 0, bytes).has_value());
  ASSERT_TRUE(world.commit(Ino{2}).has_value());
  EXPECT_EQ(world.mutations() - before, 2u);  // create; size + map + token
  EXPECT_FALSE(world.has_token(Ino{2}));
  const records::Inode inode = world.inode(Ino{2});
  EXPECT_EQ(inode.size_bytes(), 5000u);
  EXPECT_EQ(inode.used_blocks(), 2u);
  ASSERT_EQ(inode.extents_size(), 1);
  EXPECT_EQ(inode.extents(0).blocks(), 2u);
  EXPECT_EQ(world.read(Ino{2}, 0, 10000).value(), bytes);
  world.check_records();
}

TEST(FileData, InPlaceIoNeedsNoStore) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(1 << 20, 'A'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.write(kFile, 8192, k8K, WriteStability::kFileSync).has_value());
  const std::size_t before = world.mutations();
  const std::uint64_t loads = world.session().counters().cache_loads;
  for (int i = 0; i < 100; ++i) world.faults()->push(kv::TxnFault::Kind::kUnavailable);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(world.write(kFile, 8192 * (i % 100), k8K, WriteStability::kFileSync).has_value());
    ASSERT_TRUE(world.write(kFile, 512 * i, "unaligned", WriteStability::kUnstable).has_value());
    ASSERT_EQ(world.read(kFile, 8192 * (i % 100) + 4096, 100).value(), std::string(100, 'a'));
  }
  const std::uint64_t flushes = world.volume().counts().flushes;
  ASSERT_TRUE(world.commit(kFile).has_value());  // nothing has grown: a flush is all
  EXPECT_EQ(world.volume().counts().flushes, flushes + 1);
  EXPECT_EQ(world.mutations(), before);
  EXPECT_EQ(world.session().counters().cache_loads, loads);
  EXPECT_FALSE(world.faults()->empty());
}

TEST(FileData, StableInPlaceWriteIsOneStableIo) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(65536, 'A'), WriteStability::kFileSync).has_value());
  const auto before = world.volume().counts();
  ASSERT_TRUE(world.write(kFile, 4096, k8K, WriteStability::kFileSync).has_value());
  const auto after = world.volume().counts();
  EXPECT_EQ(after.stable_writes - before.stable_writes, 1u);
  EXPECT_EQ(after.writes - before.writes, 1u);
  EXPECT_EQ(after.flushes, before.flushes);
}

TEST(FileData, SequentialWritesMakeFewExtents) {
  WorldOptions options;
  options.group_blocks = 4096;
  options.mode = SimVolume::Mode::kQueued;
  FileWorld world(options);
  world.create(kFile);
  const std::string megabyte = pattern(1 << 20, 'A');
  ASSERT_TRUE(world.set_size(kFile, 60 << 20).has_value());  // crosses a map chunk soon
  int answered = 0;
  const int writes = 12;
  for (int i = 0; i < writes; ++i) {
    const int at = i % 4 == 1 ? i + 1 : i % 4 == 2 ? i - 1 : i;  // clients reorder
    world.data().write(world.handle(kFile), FileOffset{std::uint64_t(60 + at) << 20},
                       std::as_bytes(std::span(megabyte)), WriteStability::kUnstable,
                       [&](Result<WriteResult> result) { answered += result ? 1 : 0; });
    if (i % 8 == 7) world.settle();
  }
  world.settle();
  ASSERT_EQ(answered, writes);
  ASSERT_TRUE(world.commit(kFile).has_value());
  EXPECT_EQ(world.inode(kFile).size_bytes(), std::uint64_t{60 + writes} << 20);
  EXPECT_EQ(world.keys_with(kv::keys::map_prefix(FileWorld::kFs, kFile, MapGeneration{0})), 2u);
  EXPECT_LE(world.keys_with(kv::keys::table(FileWorld::kFs, 'u', 'R')), 4u);
  world.check_records();
}

TEST(FileData, SparseRandomWritesAllocateUnits) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.set_size(kFile, 512 << 20).has_value());
  for (const std::uint64_t at : {100, 101, 103, 130, 130, 131}) {
    ASSERT_TRUE(world.write(kFile, at << 20, k8K).has_value());
    ASSERT_TRUE(world.write(kFile, (at << 20) + 300000, k8K).has_value());
  }
  ASSERT_TRUE(world.commit(kFile).has_value());
  const records::Inode inode = world.inode(kFile);
  EXPECT_EQ(inode.used_blocks(), 5u * kUnitBlocks);
  EXPECT_LE(world.keys_with(kv::keys::table(FileWorld::kFs, 'u', 'R')), 5u);
  EXPECT_EQ(world.read(kFile, (100 << 20) - 100, 200).value(),
            std::string(100, '\0') + std::string(100, 'a'));
  EXPECT_EQ(world.read(kFile, (131 << 20) + 300000 + 8192, 5).value(), std::string(5, '\0'));
  // A block of a unit that exists already costs no further space.
  ASSERT_TRUE(world.write(kFile, (103 << 20) + 600000, k8K, WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.inode(kFile).used_blocks(), 5u * kUnitBlocks);
  world.check_records();
}

TEST(FileData, ReadsAtAndBeyondTheEnd) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, "hello").has_value());
  std::optional<ReadResult> got;
  world.data().read(world.handle(kFile), FileOffset{1}, 100,
                    [&](Result<ReadResult> result) { got = std::move(*result); });
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->bytes, 4u);
  EXPECT_TRUE(got->end_of_file);
  world.data().read(world.handle(kFile), FileOffset{5}, 100,
                    [&](Result<ReadResult> result) { got = std::move(*result); });
  EXPECT_EQ(got->bytes, 0u);
  EXPECT_TRUE(got->end_of_file);
  world.data().read(world.handle(kFile), FileOffset{UINT64_MAX}, 100,
                    [&](Result<ReadResult> result) { got = std::move(*result); });
  EXPECT_EQ(got->bytes, 0u);
  EXPECT_TRUE(got->end_of_file);
  world.data().read(world.handle(kFile), FileOffset{0}, 3,
                    [&](Result<ReadResult> result) { got = std::move(*result); });
  EXPECT_FALSE(got->end_of_file);
}

TEST(FileData, ForgedAndStaleHandles) {
  FileWorld world;
  world.create(kFile);
  const auto code = [&](Handle handle) {
    ErrorCode out = ErrorCode::kInternal;
    world.data().read(handle, FileOffset{0}, 10, [&](Result<ReadResult> result) {
      if (!result) out = result.error().code;
    });
    return out;
  };
  Handle other = world.handle(kFile);
  other.generation = Generation{5};
  EXPECT_EQ(code(other), ErrorCode::kStale);
  EXPECT_EQ(code(world.handle(Ino{777})), ErrorCode::kStale);
  Handle foreign = world.handle(kFile);
  foreign.fs = FsId{8};
  EXPECT_EQ(code(foreign), ErrorCode::kBadHandle);
  EXPECT_EQ(world.write(kFile, kFileBytesMax - 1, "xy").error().code, ErrorCode::kOutOfRange);
  world.change_inode(kFile, [](records::Inode& inode) {
    inode.set_type(static_cast<std::uint32_t>(FileType::kDirectory));
  });
  EXPECT_EQ(code(world.handle(kFile)), ErrorCode::kIsDirectory);
}

TEST(FileData, AFailedWriteShowsNothing) {
  FileWorld world;
  world.create(kFile);
  world.volume().fail_next(SimVolume::Kind::kWrite, 1);
  EXPECT_EQ(world.write(kFile, 0, k8K).error().code, ErrorCode::kIo);
  EXPECT_EQ(world.attributes(kFile).size_bytes, 0u);
  ASSERT_TRUE(world.commit(kFile).has_value());
  EXPECT_EQ(world.inode(kFile).extents_size(), 0);
  ASSERT_TRUE(world.write(kFile, 4096, k8K).has_value());
  EXPECT_EQ(world.read(kFile, 0, 4097).value(), std::string(4096, '\0') + "a");
  world.check_records();
}

TEST(FileData, AFailedFlushOfUnstableDataEndsTheInstance) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K).has_value());
  world.volume().fail_next(SimVolume::Kind::kFlush, 1);
  EXPECT_FALSE(world.commit(kFile).has_value());
  EXPECT_TRUE(world.failed());
  EXPECT_EQ(world.inode(kFile).size_bytes(), 0u);  // INV-5: nothing became visible
}

// Two writers of one sector: each reads, merges and writes back; neither may lose the other's
// bytes.
TEST(FileData, WritesOfOneSectorDoNotLoseEachOther) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    WorldOptions options;
    options.mode = SimVolume::Mode::kQueued;
    options.volume_bytes = 4 << 20;
    options.seed = seed;
    FileWorld world(options);
    world.create(kFile);
    ASSERT_TRUE(
        world.write(kFile, 0, std::string(8192, '.'), WriteStability::kFileSync).has_value());
    const std::string one(100, '1');
    const std::string two(100, '2');
    const std::string whole(512, '3');  // aligned, in place, beside and under the others
    int answered = 0;
    const auto done = [&](Result<WriteResult> result) { answered += result ? 1 : 0; };
    const auto start = [&](std::uint64_t at, const std::string& bytes) {
      world.data().write(world.handle(kFile), FileOffset{at}, std::as_bytes(std::span(bytes)),
                         WriteStability::kUnstable, done);
    };
    start(0, one);
    start(100, two);
    start(1024, whole);
    start(1500, one);
    world.settle();
    ASSERT_EQ(answered, 4);
    EXPECT_EQ(world.read(kFile, 0, 200).value(), one + two) << "seed " << seed;
    EXPECT_EQ(world.read(kFile, 1024, 576).value(), std::string(476, '3') + one) << "seed " << seed;
  }
}

TEST(FileData, CommitsOfOneFileShareTheirWork) {
  WorldOptions options;
  options.mode = SimVolume::Mode::kQueued;
  FileWorld world(options);
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(100000, 'A')).has_value());
  const auto before = world.volume().counts();
  int answered = 0;
  for (int i = 0; i < 10; ++i) {
    world.data().commit(world.handle(kFile), [&](Status status) { answered += status ? 1 : 0; });
  }
  world.settle();
  EXPECT_EQ(answered, 10);
  EXPECT_LE(world.volume().counts().flushes - before.flushes, 2u);
}

TEST(FileData, ChangeNeverRunsOutOfNumbers) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, std::string(512, 'a'), WriteStability::kFileSync).has_value());
  const std::string sector(512, 'b');
  std::uint64_t last = world.attributes(kFile).change;
  for (std::uint32_t i = 0; i < kChangeCountMax + 10; ++i) {
    ASSERT_TRUE(world.write(kFile, 0, sector).has_value());
    if (i % 1000 != 0 && i < kChangeCountForce - 10) continue;
    const std::uint64_t now = world.attributes(kFile).change;
    ASSERT_GT(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace symnas::fs::test
