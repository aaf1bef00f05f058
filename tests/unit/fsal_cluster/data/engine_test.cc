// What READ, WRITE and COMMIT cost in transactions and I/O, what they show, and how they fail.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimVolume;
constexpr Ino kFile{42};
const std::string k8K(8192, 'a');

std::string pattern(std::size_t bytes, char seed) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(seed + i % 61);
  return out;
}

std::size_t keys_with(FileWorld& world, const std::string& prefix) {
  std::size_t count = 0;
  for (const kv::KeyValue& kv : world.server().dump()) count += kv.key.starts_with(prefix) ? 1 : 0;
  return count;
}
bool has_token(FileWorld& world, Ino ino) {
  return keys_with(world, kv::keys::token(FileWorld::kFs, ino, world.mount())) > 0;
}

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
  EXPECT_FALSE(has_token(world, Ino{2}));
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
  EXPECT_EQ(keys_with(world, kv::keys::map_prefix(FileWorld::kFs, kFile, MapGeneration{0})), 2u);
  EXPECT_LE(keys_with(world, kv::keys::table(FileWorld::kFs, 'u', 'R')), 4u);
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
  EXPECT_LE(keys_with(world, kv::keys::table(FileWorld::kFs, 'u', 'R')), 5u);
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
  world.data().read(world.handle(kFile), FileOffset{0}, 3,
                    [&](Result<ReadResult> result) { got = std::move(*result); });
  EXPECT_FALSE(got->end_of_file);
}

TEST(FileData, TheFlagIsDroppedWithFinalTimesAfterTwoSeconds) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  world.pass_ns(3'000'000'000);
  ASSERT_FALSE(has_token(world, kFile));
  const Attributes before = world.attributes(kFile);
  const std::size_t mutations = world.mutations();
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.mutations(), mutations + 1);  // the flag
  ASSERT_TRUE(has_token(world, kFile));
  const Attributes during = world.attributes(kFile);
  EXPECT_GT(during.change, before.change);
  EXPECT_GT(during.mtime_ns, before.mtime_ns);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  EXPECT_GT(world.attributes(kFile).change, during.change);
  world.pass_ns(1'500'000'000);
  EXPECT_TRUE(has_token(world, kFile));
  world.pass_ns(8'000'000'000);
  EXPECT_FALSE(has_token(world, kFile));
  const Attributes after = world.attributes(kFile);
  EXPECT_GT(after.change, during.change);
  EXPECT_EQ(world.inode(kFile).mtime_ns(), after.mtime_ns);
  EXPECT_GE(after.mtime_ns, during.mtime_ns);
}

TEST(FileData, ACreatedFileThatIsNeverWrittenLosesItsToken) {
  FileWorld world;
  for (std::uint64_t i = 0; i < 10; ++i) world.create(Ino{100 + i});
  EXPECT_TRUE(has_token(world, Ino{105}));
  const Attributes before = world.attributes(Ino{105});
  const std::size_t mutations = world.mutations();
  world.pass_ns(3'000'000'000);
  EXPECT_FALSE(has_token(world, Ino{105}));
  EXPECT_EQ(world.mutations(), mutations + 1);  // all ten in one
  EXPECT_EQ(world.attributes(Ino{105}).change, before.change);
}

TEST(FileData, TheFirstWriteClearsSetuid) {
  FileWorld world;
  world.create(kFile, 06755);
  world.pass_ns(3'000'000'000);  // the token from the create is erased
  ASSERT_TRUE(world.write(kFile, 0, "x", WriteStability::kUnstable).has_value());
  EXPECT_EQ(world.inode(kFile).mode(), 0755u);
}

TEST(FileData, SetuidThatComesWhileTheFlagIsSetIsClearedByTheNextWrite) {
  FileWorld world;
  world.create(kFile, 04755);  // the create puts the flag
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.inode(kFile).mode(), 0755u);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(has_token(world, kFile));
  for (const std::uint32_t mode : {04775u, 02775u, 06771u}) {
    world.change_inode(kFile, [mode](records::Inode& inode) { inode.set_mode(mode); });
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
    EXPECT_EQ(world.inode(kFile).mode(), mode & 0777);
    const std::size_t mutations = world.mutations();
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
    EXPECT_EQ(world.mutations(), mutations);
  }
  // Without group execute setgid is no privilege.
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(02664); });
  const std::size_t mutations = world.mutations();
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  EXPECT_EQ(world.mutations(), mutations);
  EXPECT_EQ(world.inode(kFile).mode(), 02664u);
}

TEST(FileData, AWriteThatCannotClearSetuidChangesNothing) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(04755); });
  world.server().set_quota(kv::MemServer::Quota::kFull);
  EXPECT_FALSE(world.write(kFile, 0, pattern(8192, 'Z'), WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.read(kFile, 0, 8192).value(), k8K);
  world.server().set_quota(kv::MemServer::Quota::kFree);
  // No writer is left behind: the flag can be dropped.
  world.pass_ns(10'000'000'000);
  EXPECT_FALSE(has_token(world, kFile));
}

TEST(FileData, AnMtimeSetAfterTheLastWriteStays) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(world.set_mtime(kFile, 12345));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345);
  world.pass_ns(10'000'000'000);
  EXPECT_FALSE(has_token(world, kFile));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345);
  // But a chmod does not hide the time of the write.
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  const std::int64_t written_ns = world.attributes(kFile).mtime_ns;
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(0600); });
  EXPECT_EQ(world.attributes(kFile).mtime_ns, written_ns);
  world.pass_ns(10'000'000'000);
  EXPECT_EQ(world.inode(kFile).mtime_ns(), written_ns);
  EXPECT_EQ(world.inode(kFile).mode(), 0600u);
}

TEST(FileData, TheLaterOfWriteAndSetMtimeWins) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  world.pass_ns(10'000'000'000);
  const std::int64_t old_ns = world.inode(kFile).mtime_ns();
  // Set back to its value before the write: the write's time must not return.
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(world.set_mtime(kFile, old_ns));
  EXPECT_FALSE(has_token(world, kFile));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, old_ns);
  world.pass_ns(10'000'000'000);
  EXPECT_EQ(world.attributes(kFile).mtime_ns, old_ns);
  // Set into the future between two writes: the later write counts, also after a chmod.
  const std::int64_t future_ns = old_ns + 1'000'000'000'000;
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(world.set_mtime(kFile, future_ns));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, future_ns);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  const std::int64_t written_ns = world.attributes(kFile).mtime_ns;
  EXPECT_GT(written_ns, old_ns);
  EXPECT_LT(written_ns, future_ns);
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(0600); });
  EXPECT_EQ(world.attributes(kFile).mtime_ns, written_ns);
  world.pass_ns(10'000'000'000);
  EXPECT_EQ(world.inode(kFile).mtime_ns(), written_ns);
}

TEST(FileData, AWriteThatComesWhileTheMtimeIsSetIsTheLaterOne) {
  for (const bool resizes : {false, true}) {
    FileWorld world;
    world.create(kFile);
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
    bool written = false;
    std::int64_t set_at_ns = 0;
    const auto edit = [&](records::Inode& inode) {
      set_at_ns = world.session().next_time_ns();
      inode.set_mtime_ns(12345);
      inode.set_ctime_ns(set_at_ns);
      world.data().write(world.handle(kFile), FileOffset{0}, std::as_bytes(std::span(k8K)),
                         WriteStability::kUnstable,
                         [&](Result<WriteResult> result) { written = result.has_value(); });
      EXPECT_FALSE(written) << "it has its turn after the change";
      return Status();
    };
    world.while_pumping([&] {
      const Handle handle = world.handle(kFile);
      EXPECT_TRUE(resizes ? world.data().set_size(handle, 8192, MtimeIs::kChosen, edit)
                          : world.data().set_times(handle, edit));
    });
    EXPECT_EQ(world.inode(kFile).mtime_ns(), 12345);
    world.settle();
    EXPECT_TRUE(written);
    EXPECT_GT(world.attributes(kFile).mtime_ns, set_at_ns);
    world.pass_ns(10'000'000'000);
    EXPECT_GT(world.inode(kFile).mtime_ns(), set_at_ns);
  }
}

// Otherwise GETATTR could show the new record with the old size.
TEST(FileData, MemoryAddsNothingToARecordThatChanges) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  for (const bool resizes : {false, true}) {
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
    ASSERT_TRUE(world.data().overlay(kFile)->dirty);
    const auto edit = [&](records::Inode&) {
      EXPECT_FALSE(world.data().overlay(kFile)->dirty);
      return Status();
    };
    world.while_pumping([&] {
      const Handle handle = world.handle(kFile);
      EXPECT_TRUE(resizes ? world.data().set_size(handle, 100, MtimeIs::kOfTheChange, edit)
                          : world.data().set_times(handle, edit));
    });
  }
}

TEST(FileData, AFlagThatNobodyHasUsedIsDroppedBeforeTheMtimeIsSet) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(has_token(world, kFile));
  ASSERT_TRUE(world.set_mtime(kFile, 12345));
  EXPECT_FALSE(has_token(world, kFile));
  world.pass_ns(10'000'000'000);
  world.kill();
  world.start();
  EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345);
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

TEST(FileData, TheOldEndOfTheFileIsZeroedBeforeItMovesUp) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(4000, 'A'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.set_size(kFile, 1000).has_value());
  ASSERT_TRUE(world.set_size(kFile, 3000).has_value());
  EXPECT_EQ(world.read(kFile, 0, 5000).value(), pattern(1000, 'A') + std::string(2000, '\0'));
  ASSERT_TRUE(world.set_size(kFile, 500).has_value());
  ASSERT_TRUE(world.write(kFile, 2000, "end", WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.read(kFile, 0, 5000).value(),
            pattern(500, 'A') + std::string(1500, '\0') + "end");
}

TEST(FileData, LargeTruncatesLeaveAWatermarkAndASweep) {
  WorldOptions options;
  options.volume_bytes = 36 << 20;
  options.group_blocks = 4096;
  FileWorld world(options);
  world.create(kFile);
  for (std::uint64_t chunk = 0; chunk < 30; ++chunk) {
    ASSERT_TRUE(world.write(kFile, chunk * kMapChunkBytes + 4096, k8K).has_value());
  }
  ASSERT_TRUE(world.commit(kFile).has_value());
  const std::uint64_t all = world.check_records();
  // Nothing is pumped: the sweep waits.
  ASSERT_TRUE(
      world.data()
          .set_size(world.handle(kFile), kMapChunkBytes + 5000, MtimeIs::kOfTheChange, nullptr)
          .has_value());
  EXPECT_TRUE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.inode(kFile).size_bytes(), kMapChunkBytes + 5000);
  // Growth past the watermark waits for the sweep; what lies above reads as zeros.
  ASSERT_TRUE(world.set_size(kFile, 3 * kMapChunkBytes).has_value());
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.read(kFile, 2 * kMapChunkBytes + 4096, 5).value(), std::string(5, '\0'));
  EXPECT_EQ(world.read(kFile, kMapChunkBytes + 4999, 3).value(), std::string("a\0\0", 3));
  world.settle();
  EXPECT_LT(world.check_records(), all);
  EXPECT_EQ(keys_with(world, kv::keys::orphans(FileWorld::kFs)), 0u);

  ASSERT_TRUE(world.set_size(kFile, 0).has_value());
  EXPECT_EQ(world.inode(kFile).map_generation(), 1u);
  world.settle();
  EXPECT_EQ(world.check_records(), 0u);
  EXPECT_EQ(keys_with(world, kv::keys::orphans(FileWorld::kFs)), 0u);
  ASSERT_TRUE(world.write(kFile, 0, "again", WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.inode(kFile).extents_size(), 1);
}

TEST(FileData, AWatermarkOfADeadInstanceIsSweptByTheNext) {
  WorldOptions options;
  options.volume_bytes = 36 << 20;
  options.group_blocks = 4096;
  FileWorld world(options);
  world.create(kFile);
  for (std::uint64_t chunk = 0; chunk < 30; ++chunk) {
    ASSERT_TRUE(world.write(kFile, chunk * kMapChunkBytes, k8K).has_value());
  }
  ASSERT_TRUE(world.commit(kFile).has_value());
  // The mount ends at the moment of the truncate: the sweep never ran.
  const auto truncated =
      world.data().set_size(world.handle(kFile), 4096, MtimeIs::kOfTheChange, nullptr);
  ASSERT_TRUE(truncated.has_value());
  ASSERT_TRUE(world.inode(kFile).has_trim_block());
  world.kill();
  world.start();
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.check_records(), 1u);
  EXPECT_EQ(keys_with(world, kv::keys::orphans(FileWorld::kFs)), 0u);
}

TEST(FileData, RemovalFreesAndAbandonedRemovalKeepsUncommittedData) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(3 << 20, 'A')).has_value());
  const records::Inode before = world.inode(kFile);
  auto plan = world.data().plan_removal(world.handle(kFile), before);
  ASSERT_TRUE(plan.has_value());
  bool answered = false;  // waits, does not fail
  world.data().read(world.handle(kFile), FileOffset{0}, 10, [&](Result<ReadResult> result) {
    EXPECT_TRUE(result.has_value());
    answered = true;
  });
  EXPECT_FALSE(answered);
  world.data().abandoned(std::move(*plan));
  world.settle();
  EXPECT_TRUE(answered);
  ASSERT_TRUE(world.commit(kFile).has_value());
  EXPECT_EQ(world.read(kFile, 0, 4 << 20).value(), pattern(3 << 20, 'A'));
  ASSERT_TRUE(world.remove(kFile).has_value());
  EXPECT_EQ(world.read(kFile, 0, 10).error().code, ErrorCode::kStale);
  world.settle();
  EXPECT_EQ(world.check_records(), 0u);
  EXPECT_EQ(keys_with(world, kv::keys::table(FileWorld::kFs, 'u', 'R')), 0u);
  EXPECT_EQ(keys_with(world, kv::keys::orphans(FileWorld::kFs)), 0u);
  const auto use = world.data().space();
  EXPECT_EQ(use->free_bytes, use->total_bytes);
}

TEST(FileData, SizeChangesAndRemovalWaitForIoInFlight) {
  WorldOptions options;
  options.mode = SimVolume::Mode::kQueued;
  FileWorld world(options);
  world.create(kFile);
  ASSERT_TRUE(
      world.write(kFile, 0, std::string(65536, 'a'), WriteStability::kFileSync).has_value());
  world.settle();
  bool written = false;
  world.data().write(world.handle(kFile), FileOffset{8192}, std::as_bytes(std::span(k8K)),
                     WriteStability::kUnstable, [&](Result<WriteResult> result) {
                       EXPECT_TRUE(result.has_value());
                       written = true;
                     });
  ASSERT_FALSE(written);  // on its way
  std::atomic<bool> changed{false};
  std::thread truncate([&] {
    EXPECT_TRUE(world.data()
                    .set_size(world.handle(kFile), 4096, MtimeIs::kOfTheChange, nullptr)
                    .has_value());
    EXPECT_TRUE(written);
    changed = true;
  });
  // Its transaction would be the next one; none comes while the write is queued.
  const std::size_t before = world.mutations();
  for (int i = 0; i < 200; ++i) std::this_thread::yield();
  EXPECT_EQ(world.mutations(), before);
  EXPECT_FALSE(changed);
  while (!changed) {
    if (!world.step()) std::this_thread::yield();
  }
  truncate.join();
  EXPECT_EQ(world.attributes(kFile).size_bytes, 4096u);
  world.check_records();
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
