// WRITEs of one file that meet: which one may touch its last block, and when.
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimVolume;
constexpr Ino kFile{42};

struct Writer {
  std::uint64_t at;
  std::string bytes;
  std::optional<Status> answer;
};

void start(FileWorld& world, Writer& writer) {
  world.data().write(world.handle(kFile), FileOffset{writer.at},
                     std::as_bytes(std::span(writer.bytes)), WriteStability::kFileSync,
                     [&writer](Result<WriteResult> result) {
                       writer.answer = result ? Status() : tl::unexpected(result.error());
                     });
}

// Two writes wait behind one that fails. When they queued there was nothing to zero; when they run
// there is. The zeros of one must not come after the acknowledged bytes of the other.
TEST(Write, ZerosBehindTheEndNeverOvertakeAnAcknowledgedWrite) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    WorldOptions options;
    options.mode = SimVolume::Mode::kQueued;
    options.volume_bytes = 4 << 20;
    options.seed = seed;
    FileWorld world(options);
    world.create(kFile);
    const std::string head(1000, 'h');
    ASSERT_TRUE(world.write(kFile, 0, head, WriteStability::kFileSync).has_value());
    world.settle();

    Writer failing{2048, std::string(8192, 'x'), {}};
    Writer near{1024, std::string(512, 'n'), {}};
    Writer far{3072, std::string(512, 'f'), {}};
    world.volume().fail_next(SimVolume::Kind::kWrite, 1);
    start(world, failing);
    start(world, near);
    start(world, far);
    world.settle();
    EXPECT_EQ(failing.answer->error().code, ErrorCode::kIo);
    ASSERT_TRUE(near.answer->has_value());
    ASSERT_TRUE(far.answer->has_value());
    ASSERT_EQ(world.read(kFile, 0, 1000).value(), head) << "seed " << seed;
    ASSERT_EQ(world.read(kFile, 1024, 512).value(), near.bytes) << "seed " << seed;
    ASSERT_EQ(world.read(kFile, 3072, 512).value(), far.bytes) << "seed " << seed;
    ASSERT_EQ(world.read(kFile, 1000, 24).value(), std::string(24, '\0')) << "seed " << seed;
  }
}

// Only bytes in the last block need zeroing: a failure elsewhere costs nothing.
TEST(Write, AFailureBeyondTheLastBlockLeavesItsTailClean) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, std::string(1000, 'h'), WriteStability::kFileSync).has_value());
  world.volume().fail_next(SimVolume::Kind::kWrite, 1);
  EXPECT_FALSE(world.write(kFile, 8192, std::string(4096, 'x')).has_value());
  const std::uint64_t before = world.volume().counts().writes;
  ASSERT_TRUE(world.write(kFile, 1024, std::string(512, 'n')).has_value());
  EXPECT_EQ(world.volume().counts().writes, before + 1);
  // A failed write in the last block: what it has left there must be zeroed.
  world.volume().fail_next(SimVolume::Kind::kWrite, 1);
  EXPECT_FALSE(world.write(kFile, 2048, std::string(512, 'x')).has_value());
  ASSERT_TRUE(world.write(kFile, 3072, std::string(512, 'f')).has_value());
  EXPECT_EQ(world.read(kFile, 1536, 1536).value(), std::string(1536, '\0'));
}

// The transaction that gives the file new numbers is asked for so early that no writer waits for an
// election of etcd.
TEST(Write, TenThousandsOfWritesInPlaceGoOnWhileTheStoreIsAway) {
  FileWorld world;
  world.create(kFile);
  const std::string sector(512, 'a');
  ASSERT_TRUE(world.write(kFile, 0, sector, WriteStability::kFileSync).has_value());
  for (std::uint32_t i = 0; i + 2 < kChangeCountForce; ++i) {
    ASSERT_TRUE(world.write(kFile, 0, sector).has_value());
  }
  for (int i = 0; i < 1000; ++i) world.faults()->push(kv::TxnFault::Kind::kUnavailable);
  const std::size_t before = world.mutations();
  int answered = 0;
  for (int i = 0; i < 60'000; ++i) {
    world.data().write(world.handle(kFile), FileOffset{0}, std::as_bytes(std::span(sector)),
                       WriteStability::kUnstable,
                       [&](Result<WriteResult> result) { answered += result ? 1 : 0; });
    ASSERT_EQ(answered, i + 1);
  }
  EXPECT_EQ(world.mutations(), before + 1);  // one transaction waits
}

// A reservation conflict is a disproof wherever it occurs: here while the tail of the last block is
// zeroed.
TEST(Write, ASizeChangeThatALunRefusesEndsTheInstance) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, std::string(4000, 'A'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.set_size(kFile, 1000).has_value());
  world.volume().fail_next(SimVolume::Kind::kWrite, 1, ErrorCode::kFenced);
  const Status grown = world.set_size(kFile, 3000);
  ASSERT_FALSE(grown.has_value());
  EXPECT_EQ(grown.error().code, ErrorCode::kFenced);
  EXPECT_TRUE(world.failed());
}

}  // namespace
}  // namespace symnas::fs::test
