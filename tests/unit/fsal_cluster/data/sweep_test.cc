// Sweeps that meet other operations of the same file.
#include <gtest/gtest.h>

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

// The same, with the record gone from the cache when it is taken over: the old one is all there is.
TEST(Sweep, AWatermarkThatTheRecordHasNotIsForgotten) {
  FileWorld world;
  create_with_watermark(world);
  world.session().during_read([&] {
    finish_trim(world);
    world.session().evict(1);
  });
  EXPECT_TRUE(write_is_answered(world));
}

// A trim that has read "nothing to do" must not take away the watermark of a truncate that came
// after its read.
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
    ASSERT_TRUE(world.data().set_size(world.handle(kFile), 4096, nullptr).has_value());
    ASSERT_TRUE(world.inode(kFile).has_trim_block());
  };
  records::Orphan orphan;
  orphan.set_truncated(true);
  orphan.set_map_generation(UINT32_MAX);
  world.session().after_next_read(truncate);
  ASSERT_TRUE(world.data().sweep_orphan(kFile, orphan).has_value());
  // Whoever grows past the watermark waits until what lies above is gone.
  ASSERT_TRUE(world.set_size(kFile, 30 * kMapChunkBytes).has_value());
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.read(kFile, 7 * kMapChunkBytes, 5).value(), std::string(5, '\0'));
  world.settle();
  EXPECT_EQ(world.check_records(), 1u);
}

}  // namespace
}  // namespace symnas::fs::test
