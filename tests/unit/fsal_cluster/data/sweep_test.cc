// Sweeps that meet other operations of the same file.
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42};

// A file that nobody has used yet and whose record carries a watermark.
void create_with_watermark(FileWorld& world) {
  world.create(kFile);
  world.change_inode(kFile, [](records::Inode& inode) {
    inode.set_chunked(true);
    inode.set_size_bytes(kMapChunkBytes);
    inode.set_trim_block(kChunkBlocks);
  });
}

void finish_trim(FileWorld& world) {
  records::Orphan orphan;
  orphan.set_truncated(true);
  orphan.set_map_generation(UINT32_MAX);  // only what is above the watermark
  ASSERT_TRUE(world.data().sweep_orphan(kFile, orphan).has_value());
  ASSERT_FALSE(world.inode(kFile).has_trim_block());
}

// Writes above the watermark; false: no answer, however long one waits.
bool write_is_answered(FileWorld& world) {
  std::optional<bool> written;
  const std::string bytes = "above";
  world.data().write(world.handle(kFile), FileOffset{2 * kMapChunkBytes},
                     std::as_bytes(std::span(bytes)), WriteStability::kFileSync,
                     [&](Result<WriteResult> result) { written = result.has_value(); });
  for (int i = 0; i < 10'000 && !written; ++i) {
    if (!world.step()) world.clock().advance_ns(1'000'000);
  }
  return written.value_or(false);
}

TEST(Sweep, AWatermarkTakenAwayWhileTheFileIsLoadedDoesNotComeBack) {
  FileWorld world;
  create_with_watermark(world);
  world.session().during_read([&] { finish_trim(world); });
  EXPECT_TRUE(write_is_answered(world));
}

// The same, but the record has left the cache when the watermark is taken over: only the old record
// is there.
TEST(Sweep, AWatermarkThatTheRecordHasNotIsForgotten) {
  FileWorld world;
  create_with_watermark(world);
  world.session().during_read([&] {
    finish_trim(world);
    world.session().evict(1);
  });
  EXPECT_TRUE(write_is_answered(world));
}

// Damaged: nobody sweeps the file, and its record changes without a token. Who waits for the sweep
// is told, and does not turn round and round.
TEST(Sweep, AWatermarkThatDoesNotGoIsAnError) {
  FileWorld world;
  create_with_watermark(world);
  ASSERT_TRUE(world.read(kFile, 0, 1));
  const auto write = [&] { return world.write(kFile, 2 * kMapChunkBytes, "above"); };
  world.change_inode(kFile, [](records::Inode& inode) {
    inode.set_map_generation(inode.map_generation() + 1);
    inode.clear_trim_block();
  });
  const Status of_another_map = write();
  ASSERT_FALSE(of_another_map);
  EXPECT_EQ(of_another_map.error().code, ErrorCode::kConflict);
  kv::Mutation gone;
  gone.writes = {kv::erase(kv::keys::inode(FileWorld::kFs, kFile))};
  ASSERT_TRUE(world.session().commit_blocking(std::move(gone)));
  const Status of_nothing = write();
  ASSERT_FALSE(of_nothing);
  EXPECT_EQ(of_nothing.error().code, ErrorCode::kStale);
}

// A trim that has read "nothing to do" must not remove the watermark of a truncate that came after
// its read.
TEST(Sweep, AWatermarkSetAfterTheLookStays) {
  WorldOptions options;
  options.volume_bytes = 36 << 20;
  options.group_blocks = 4096;
  FileWorld world(options);
  world.create(kFile);
  for (std::uint64_t chunk = 0; chunk < 30; ++chunk) {
    ASSERT_TRUE(world.write(kFile, chunk * kMapChunkBytes, std::string(8192, 'a')).has_value());
  }
  ASSERT_TRUE(world.commit(kFile).has_value());
  const auto truncate = [&] {
    ASSERT_TRUE(world.data()
                    .set_size(world.handle(kFile), 4096, MtimeIs::kOfTheChange, nullptr)
                    .has_value());
    ASSERT_TRUE(world.inode(kFile).has_trim_block());
  };
  records::Orphan orphan;
  orphan.set_truncated(true);
  orphan.set_map_generation(UINT32_MAX);
  world.session().after_next_read(truncate);
  ASSERT_TRUE(world.data().sweep_orphan(kFile, orphan).has_value());
  // A write that grows past the watermark waits until the part above it is gone.
  ASSERT_TRUE(world.set_size(kFile, 30 * kMapChunkBytes).has_value());
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.read(kFile, 7 * kMapChunkBytes, 5).value(), std::string(5, '\0'));
  world.settle();
  EXPECT_EQ(world.check_records(), 1u);
}

// A file whose chunk `chunk` consists of `count` extents of one block, as a database leaves it that
// fills a file at random.
void create_fragmented(FileWorld& world, std::uint64_t chunk, std::uint32_t count) {
  constexpr std::uint64_t kFirst = 8192;  // a group that no mount has claimed yet
  world.create(kFile);
  records::MapChunk map;
  for (std::uint32_t begin = 0; begin < count; begin += 64) {
    kv::Mutation mutation;
    for (std::uint32_t i = begin; i < begin + 64; ++i) {
      records::Extent& extent = *map.add_extents();
      extent.set_file_block(i);
      extent.set_volume_block(kFirst + 2 * i);
      extent.set_blocks(1);
      records::ReverseMap reverse;
      reverse.set_ino(kFile.value());
      reverse.set_file_block(chunk * kChunkBlocks + i);
      reverse.set_blocks(1);
      const std::uint64_t at = extent.volume_block();
      mutation.writes.push_back(
          kv::put(kv::keys::reverse_map(FileWorld::kFs, static_cast<std::uint32_t>(at / 4096), at),
                  reverse.SerializeAsString()));
    }
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  }
  kv::Mutation mutation;
  mutation.writes.push_back(
      kv::put(kv::keys::map_chunk(FileWorld::kFs, kFile, MapGeneration{0}, chunk),
              map.SerializeAsString()));
  ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  world.change_inode(kFile, [&](records::Inode& inode) {
    inode.set_chunked(true);
    inode.set_size_bytes(chunk * kMapChunkBytes + count * kBlockBytes);
    inode.set_used_blocks(count);
  });
}

WorldOptions three_groups() {
  WorldOptions options;
  options.volume_bytes = 64 << 20;
  options.group_blocks = 4096;
  return options;
}

std::size_t orphans(FileWorld& world) { return world.keys_with(kv::keys::orphans(FileWorld::kFs)); }

TEST(Sweep, AFragmentedFileIsTruncatedInsideItsChunk) {
  FileWorld world(three_groups());
  create_fragmented(world, 0, 1024);
  ASSERT_EQ(world.check_records(), 1024u);
  // Nothing is pumped: the sweep waits.
  const auto cut = world.data().set_size(world.handle(kFile), 100, MtimeIs::kOfTheChange, nullptr);
  ASSERT_TRUE(cut.has_value()) << cut.error().message;
  EXPECT_EQ(world.inode(kFile).size_bytes(), 100u);
  EXPECT_EQ(world.inode(kFile).trim_block(), 1u);
  EXPECT_EQ(world.read(kFile, 0, 5000)->size(), 100u);
  // The chunk is written again, by memory and by the sweep: neither undoes the other.
  ASSERT_TRUE(world.write(kFile, 9000, "below and above", WriteStability::kFileSync).has_value());
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.inode(kFile).size_bytes(), 9015u);
  EXPECT_EQ(world.read(kFile, 100, 8900).value(), std::string(8900, '\0'));
  world.settle();
  EXPECT_EQ(world.check_records(), 2u);
  EXPECT_EQ(orphans(world), 0u);
}

TEST(Sweep, AFragmentedChunkIsTruncatedAtItsBegin) {
  FileWorld world(three_groups());
  create_fragmented(world, 1, 1024);
  ASSERT_TRUE(world.data()
                  .set_size(world.handle(kFile), kMapChunkBytes, MtimeIs::kOfTheChange, nullptr)
                  .has_value());
  EXPECT_EQ(world.inode(kFile).trim_block(), kChunkBlocks);
  ASSERT_TRUE(world.write(kFile, kMapChunkBytes, "again", WriteStability::kFileSync).has_value());
  world.settle();
  EXPECT_EQ(world.check_records(), 1u);
  EXPECT_EQ(orphans(world), 0u);
}

// Cut twice before the sweep reaches it: blocks that the first cut left dead are not lost.
TEST(Sweep, AFragmentedFileIsTruncatedAgainAndAgain) {
  for (const std::uint64_t next : {std::uint64_t{50}, kMapChunkBytes / 2, std::uint64_t{0}}) {
    FileWorld world(three_groups());
    create_fragmented(world, 1, 1024);
    ASSERT_TRUE(
        world.data()
            .set_size(world.handle(kFile), kMapChunkBytes + 5000, MtimeIs::kOfTheChange, nullptr)
            .has_value());
    ASSERT_TRUE(world.inode(kFile).has_trim_block());
    ASSERT_TRUE(world.set_size(kFile, next).has_value());
    world.settle();
    EXPECT_EQ(world.check_records(), 0u) << "next size " << next;
    EXPECT_EQ(orphans(world), 0u);
  }
}

TEST(Sweep, AFragmentedFileOfADeadInstanceIsTrimmedByTheNext) {
  FileWorld world(three_groups());
  create_fragmented(world, 0, 1024);
  ASSERT_TRUE(world.data()
                  .set_size(world.handle(kFile), 3 * kBlockBytes, MtimeIs::kOfTheChange, nullptr)
                  .has_value());
  ASSERT_TRUE(world.inode(kFile).has_trim_block());
  world.kill();
  world.start();
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.check_records(), 3u);
  EXPECT_EQ(orphans(world), 0u);
}

// Another sweep of the same map is faster, as the one in the background beside a writer that waits:
// that is no damage, and its entries are not worth a read each.
TEST(Sweep, ALostRaceIsNoDamage) {
  FileWorld world(three_groups());
  create_fragmented(world, 0, 1024);
  records::Orphan orphan;
  orphan.set_map_generation(0);
  const auto sweep = [&] { ASSERT_TRUE(world.data().sweep_orphan(kFile, orphan).has_value()); };
  int ranges = 0;
  world.session().interrupt([&] {
    sweep();
    world.session().before_range_on_this_thread([&] { ++ranges; });
  });
  testing::internal::CaptureStdout();
  sweep();
  world.session().before_range_on_this_thread(nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("fs check"), std::string::npos);
  EXPECT_LE(ranges, 4);
}

TEST(Sweep, ALostRaceOfATrimIsNoDamage) {
  FileWorld world(three_groups());
  create_fragmented(world, 0, 1024);
  ASSERT_TRUE(
      world.data().set_size(world.handle(kFile), 100, MtimeIs::kOfTheChange, nullptr).has_value());
  int ranges = 0;
  world.session().interrupt([&] {
    finish_trim(world);
    world.session().before_range_on_this_thread([&] { ++ranges; });
  });
  testing::internal::CaptureStdout();
  finish_trim(world);
  world.session().before_range_on_this_thread(nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("fs check"), std::string::npos);
  EXPECT_LE(ranges, 4);
  world.settle();
  EXPECT_EQ(world.check_records(), 1u);
}

}  // namespace
}  // namespace symnas::fs::test
