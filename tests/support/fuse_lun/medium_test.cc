#include "tests/support/fuse_lun/medium.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace symnas::fuse_lun {
namespace {

using Bytes = std::vector<std::byte>;

Bytes filled(std::size_t sectors, char with) {
  return Bytes(sectors * kSectorBytes, static_cast<std::byte>(with));
}

class MediumTest : public testing::Test {
 protected:
  MediumTest() {
    std::ofstream(path_) << std::string(64 * kCacheBlockBytes, '.');
    auto opened = Medium::open(path_);
    EXPECT_TRUE(opened) << opened.error().message;
    medium_ = std::move(*opened);
  }
  ~MediumTest() override { std::filesystem::remove(path_); }

  void write(std::uint64_t sector, std::size_t sectors, char with, Stability stability) {
    ASSERT_EQ(medium_->write(sector * kSectorBytes, filled(sectors, with), stability), 0);
  }
  // The first byte of each sector.
  std::string read(std::uint64_t sector, std::size_t sectors) {
    Bytes got(sectors * kSectorBytes);
    EXPECT_EQ(medium_->read(sector * kSectorBytes, got), 0);
    std::string text;
    for (std::size_t i = 0; i < sectors; ++i) {
      text += static_cast<char>(got[i * kSectorBytes]);
      EXPECT_EQ(got[i * kSectorBytes], got[(i + 1) * kSectorBytes - 1]) << "a torn sector";
    }
    return text;
  }

  const std::string path_ = (std::filesystem::temp_directory_path() /
                             ("medium_test." + std::to_string(::getpid()) + "." +
                              testing::UnitTest::GetInstance()->current_test_info()->name()))
                                .string();
  std::unique_ptr<Medium> medium_;
};

TEST_F(MediumTest, AVolatileWriteIsReadUntilThePowerGoes) {
  write(5, 6, 'v', Stability::kVolatile);
  EXPECT_EQ(read(4, 8), ".vvvvvv.");
  EXPECT_EQ(medium_->volatile_sectors(), 6u);
  const Medium::Loss loss = medium_->lose_power(nullptr);
  EXPECT_EQ(loss.sectors_lost, 6u);
  EXPECT_EQ(loss.sectors_kept, 0u);
  EXPECT_EQ(read(4, 8), "........");
}

TEST_F(MediumTest, AStableWriteStays) {
  write(0, 4, 's', Stability::kStable);
  medium_->lose_power(nullptr);
  EXPECT_EQ(read(0, 5), "ssss.");
}

TEST_F(MediumTest, TheLastWriteWinsWhateverItsStability) {
  write(0, 4, 'v', Stability::kVolatile);
  write(1, 2, 's', Stability::kStable);
  EXPECT_EQ(read(0, 4), "vssv");
  EXPECT_EQ(medium_->flush(medium_->mark()), 0);
  EXPECT_EQ(read(0, 4), "vssv");
  write(1, 1, 'w', Stability::kVolatile);
  medium_->lose_power(nullptr);
  EXPECT_EQ(read(0, 4), "vssv");
}

TEST_F(MediumTest, AFlushCoversWhatWasWrittenBeforeItCame) {
  write(0, 1, 'b', Stability::kVolatile);
  const Medium::Mark mark = medium_->mark();
  write(8, 1, 'a', Stability::kVolatile);
  EXPECT_EQ(medium_->flush(mark), 0);
  medium_->lose_power(nullptr);
  EXPECT_EQ(read(0, 1), "b");
  EXPECT_EQ(read(8, 1), ".") << "written after the flush came";
}

TEST_F(MediumTest, ASeedKeepsTheSamePartEachTime) {
  std::string first;
  for (int round = 0; round < 2; ++round) {
    write(0, 256, '.', Stability::kStable);
    write(0, 256, 'v', Stability::kVolatile);
    std::mt19937_64 random(7);
    const Medium::Loss loss = medium_->lose_power(&random);
    EXPECT_EQ(loss.sectors_lost + loss.sectors_kept, 256u);
    EXPECT_GT(loss.sectors_lost, 0u);
    EXPECT_GT(loss.sectors_kept, 0u);
    const std::string left = read(0, 256);
    if (round == 0) first = left;
    EXPECT_EQ(left, first);
    EXPECT_NE(left.find("v."), std::string::npos);
  }
}

TEST_F(MediumTest, AWriteUnderWayIsTornBetweenSectors) {
  std::mt19937_64 random(3);
  medium_->tear(0, filled(64, 't'), random);
  const std::string left = read(0, 64);
  EXPECT_NE(left.find('t'), std::string::npos);
  EXPECT_NE(left.find('.'), std::string::npos);
}

TEST_F(MediumTest, AFlushEmptiesTheCache) {
  for (std::size_t i = 0; i < 64; ++i)
    write(i * kSectorsPerBlock, kSectorsPerBlock, 'v', Stability::kVolatile);
  EXPECT_EQ(medium_->volatile_sectors(), 64u * kSectorsPerBlock);
  EXPECT_EQ(medium_->flush(medium_->mark()), 0);
  EXPECT_EQ(medium_->volatile_sectors(), 0u);
  medium_->lose_power(nullptr);
  EXPECT_EQ(read(0, 512), std::string(512, 'v'));
}

}  // namespace
}  // namespace symnas::fuse_lun
