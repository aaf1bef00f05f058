#include "vnfsd/daemon/scrub/lun_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "vnfsd/daemon/scrub/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// A LUN with some blocks that cannot be read.
struct Sick {
  std::set<std::uint64_t> blocks;
  int reads = 0;
  ReadLun reader() {
    return [this](std::uint64_t byte, std::span<std::byte> into) -> Status {
      ++reads;
      for (std::uint64_t at = byte; at < byte + into.size(); at += kScrubBlockBytes)
        if (blocks.contains(at / kScrubBlockBytes)) return fail(ErrorCode::kIo, "EIO");
      return {};
    };
  }
};

Status there() { return {}; }

TEST(LunReader, WhatCanBeReadTakesOneRead) {
  Sick lun;
  const auto bad = find_bad(lun.reader(), there, 4 * kScrubReadBytes, kScrubReadBytes);
  ASSERT_TRUE(bad.has_value());
  EXPECT_TRUE(bad->empty());
  EXPECT_EQ(lun.reads, 1);
}

TEST(LunReader, BadBlocksAreJoinedToRuns) {
  Sick lun{{256, 258, 259, 511, 512}};
  const auto bad = find_bad(lun.reader(), there, kScrubReadBytes, kScrubReadBytes);
  ASSERT_TRUE(bad.has_value());
  ASSERT_EQ(bad->size(), 3U);
  EXPECT_EQ(bad->at(0).byte, 256 * kScrubBlockBytes);
  EXPECT_EQ(bad->at(0).bytes, kScrubBlockBytes);
  EXPECT_EQ(bad->at(1).byte, 258 * kScrubBlockBytes);
  EXPECT_EQ(bad->at(1).bytes, 2 * kScrubBlockBytes);
  EXPECT_EQ(bad->at(2).bytes, kScrubBlockBytes);  // block 512 is not asked for
  EXPECT_EQ(bad->at(2).error, "EIO");
}

TEST(LunReader, AFencedHeadEnds) {
  const auto bad = find_bad(
      [](std::uint64_t, std::span<std::byte>) { return Status(fail(ErrorCode::kFenced, "no")); },
      there, kScrubReadBytes, kScrubReadBytes);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code, ErrorCode::kFenced);
}

// A lost path: no block is bad.
TEST(LunReader, ALunThatIsAwayHasNoBadBlocks) {
  Sick lun{{256, 257}};
  const auto bad = find_bad(
      lun.reader(), [] { return Status(fail(ErrorCode::kIo, "label: EIO")); }, kScrubReadBytes,
      kScrubReadBytes);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, "label: EIO");
}

TEST(LunReader, WhatCanBeReadAgainIsNotBad) {
  Sick lun{{256, 300}};
  const auto bad = find_bad(
      lun.reader(),
      [&] {
        lun.blocks.erase(256);
        return Status();
      },
      kScrubReadBytes, kScrubReadBytes);
  ASSERT_TRUE(bad.has_value());
  ASSERT_EQ(bad->size(), 1U);
  EXPECT_EQ(bad->at(0).byte, 300 * kScrubBlockBytes);
}

TEST(LunReader, ADeviceThatIsGoneIsNoBadBlock) {
  const auto bad = find_bad(
      [](std::uint64_t, std::span<std::byte>) { return Status(fail(ErrorCode::kNotFound, "no")); },
      there, kScrubReadBytes, kScrubReadBytes);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
