#include "vnfsd/daemon/scrub/scrub_window.h"

#include <gtest/gtest.h>

#include <array>

#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::uint64_t kUnit = 64 << 10;
constexpr std::uint64_t kBlocksPerUnit = kUnit / 4096;
constexpr std::uint64_t kGroupBlocks = 4096;

// Two LUNs striped together.
class ScrubWindowTest : public ::testing::Test {
 protected:
  ScrubbedLun lun(std::uint32_t index) const {
    const std::array<cvm::StripeSegment, 1> segments = {{{2, 1024 * kUnit}}};
    ScrubbedLun out{*cvm::StripeMap::create(segments, kUnit), LunIndex{index}, {}};
    out.filesystem.set_fsid(7);
    out.filesystem.set_block_bytes(4096);
    out.filesystem.set_group_blocks(kGroupBlocks);
    return out;
  }
  void use(std::uint64_t block, std::uint32_t blocks, std::uint64_t ino, std::uint64_t file_block) {
    fs::records::ReverseMap entry;
    entry.set_ino(ino);
    entry.set_blocks(blocks);
    entry.set_file_block(file_block);
    kv::Txn txn;
    txn.success = {kv::put(
        kv::keys::reverse_map(FsId{7}, static_cast<std::uint32_t>(block / kGroupBlocks), block),
        entry.SerializeAsString())};
    ASSERT_TRUE(kv::txn_blocking(store, std::move(txn), 1000).has_value());
  }
  static constexpr std::uint64_t kBegin = cvm::kReservedBytes;
  kv::MemStore store{kv::MemStoreOptions{}};
};

TEST_F(ScrubWindowTest, AFileOverBothLunsIsInParts) {
  use(8, 2 * kBlocksPerUnit, 17, 100);  // from the middle of the first unit, two units long
  const auto first = read_window(store, lun(0), kBegin, kBegin + 4 * kUnit);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  ASSERT_EQ(first->size(), 2U);
  EXPECT_EQ(first->at(0).byte, kBegin + 8 * 4096);
  EXPECT_EQ(first->at(0).bytes, 8U * 4096);
  EXPECT_EQ(first->at(0).ino, 17U);
  EXPECT_EQ(first->at(0).file_byte, 100U * 4096);
  EXPECT_EQ(first->at(1).byte, kBegin + kUnit);
  EXPECT_EQ(first->at(1).file_byte, (100U + 8 + kBlocksPerUnit) * 4096);
  const auto second = read_window(store, lun(1), kBegin, kBegin + 4 * kUnit);
  ASSERT_TRUE(second.has_value());
  ASSERT_EQ(second->size(), 1U);
  EXPECT_EQ(second->at(0).byte, kBegin);
  EXPECT_EQ(second->at(0).bytes, kUnit);
  EXPECT_EQ(second->at(0).file_byte, 108U * 4096);
}

TEST_F(ScrubWindowTest, AnExtentThatBeginsBeforeTheWindow) {
  use(0, 6 * kBlocksPerUnit, 17, 0);
  const auto parts = read_window(store, lun(0), kBegin + kUnit, kBegin + 2 * kUnit);
  ASSERT_TRUE(parts.has_value());
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_EQ(parts->at(0).byte, kBegin + kUnit);
  EXPECT_EQ(parts->at(0).file_byte, 2 * kUnit);
}

TEST_F(ScrubWindowTest, AnEntryThatCannotBeParsedIsSkipped) {
  use(2, 3, 17, 0);
  kv::Txn txn;
  txn.success = {kv::put(kv::keys::reverse_map(FsId{7}, 0, 0), "\xff\xff")};
  ASSERT_TRUE(kv::txn_blocking(store, std::move(txn), 1000).has_value());
  const auto parts = read_window(store, lun(0), kBegin, kBegin + kUnit);
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_EQ(parts->at(0).ino, 17U);
}

TEST_F(ScrubWindowTest, WithGapsEveryByteIsOnce) {
  use(2, 3, 17, 0);
  const auto used = read_window(store, lun(0), kBegin, kBegin + kUnit);
  ASSERT_TRUE(used.has_value());
  const auto all = with_gaps(*used, kBegin, kBegin + kUnit);
  ASSERT_EQ(all.size(), 3U);
  std::uint64_t at = kBegin;
  for (const UsedPart& part : all) {
    EXPECT_EQ(part.byte, at);
    at += part.bytes;
  }
  EXPECT_EQ(at, kBegin + kUnit);
  EXPECT_EQ(all[0].ino, 0U);
  EXPECT_EQ(all[1].ino, 17U);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
