#include "cvm/stripe_map.h"

#include <gtest/gtest.h>

namespace symnas::cvm {
namespace {

constexpr std::uint32_t kUnit = 64 * kKiB;

StripeMap map_of(std::vector<StripeSegment> segments, std::uint32_t unit = kUnit) {
  auto map = StripeMap::create(segments, unit);
  EXPECT_TRUE(map) << map.error().message;
  return map.value_or(StripeMap());
}

LunPosition position(std::uint32_t lun, std::uint64_t data_offset) {
  return {LunIndex(lun), LunOffset(kReservedBytes + data_offset)};
}

TEST(StripeMap, UnitsGoRoundTheLuns) {
  const StripeMap map = map_of({{.lun_count = 3, .bytes_per_lun = 2 * kUnit}});
  EXPECT_EQ(map.size_bytes(), 6u * kUnit);
  EXPECT_EQ(map.locate(VolumeOffset(0)), position(0, 0));
  EXPECT_EQ(map.locate(VolumeOffset(kUnit - 1)), position(0, kUnit - 1));
  EXPECT_EQ(map.locate(VolumeOffset(kUnit)), position(1, 0));
  EXPECT_EQ(map.locate(VolumeOffset(3 * kUnit)), position(0, kUnit));
  EXPECT_EQ(map.locate(VolumeOffset(6 * kUnit - 1)), position(2, 2 * kUnit - 1));
}

TEST(StripeMap, SecondSegmentUsesItsOwnLuns) {
  const StripeMap map = map_of(
      {{.lun_count = 2, .bytes_per_lun = kUnit}, {.lun_count = 1, .bytes_per_lun = 3 * kUnit}});
  EXPECT_EQ(map.lun_count(), 3u);
  EXPECT_EQ(map.locate(VolumeOffset(2 * kUnit)), position(2, 0));
  EXPECT_EQ(map.locate(VolumeOffset(3 * kUnit)), position(2, kUnit));
  EXPECT_EQ(map.bytes_on(LunIndex(1)), kUnit);
  EXPECT_EQ(map.bytes_on(LunIndex(2)), 3u * kUnit);
}

TEST(StripeMap, PiecesEndAtUnitBoundaries) {
  const StripeMap map = map_of({{.lun_count = 2, .bytes_per_lun = 4 * kUnit}});
  std::vector<Piece> pieces;
  map.for_each_piece(VolumeOffset(kUnit - 512), kUnit + 1024,
                     [&](Piece p) { pieces.push_back(p); });
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].position, position(0, kUnit - 512));
  EXPECT_EQ(pieces[0].length_bytes, 512u);
  EXPECT_EQ(pieces[1].position, position(1, 0));
  EXPECT_EQ(pieces[1].length_bytes, kUnit);
  EXPECT_EQ(pieces[2].position, position(0, kUnit));
  EXPECT_EQ(pieces[2].volume_offset, VolumeOffset(2 * kUnit));
  EXPECT_EQ(pieces[2].length_bytes, 512u);
}

TEST(StripeMap, RangeEndsAreExact) {
  const StripeMap map = map_of({{.lun_count = 1, .bytes_per_lun = kUnit}});
  EXPECT_TRUE(map.contains(VolumeOffset(0), kUnit));
  EXPECT_TRUE(map.contains(VolumeOffset(kUnit), 0));
  EXPECT_FALSE(map.contains(VolumeOffset(1), kUnit));
  EXPECT_FALSE(map.contains(VolumeOffset(kUnit + 1), 0));
  EXPECT_FALSE(map.contains(VolumeOffset(UINT64_MAX), 2)) << "no wrap-around";
  EXPECT_FALSE(map.contains(VolumeOffset(2), UINT64_MAX));
}

TEST(StripeMap, InverseRefusesWhatIsNoData) {
  const StripeMap map = map_of({{.lun_count = 2, .bytes_per_lun = kUnit}});
  EXPECT_EQ(*map.volume_offset(position(1, 7)), VolumeOffset(kUnit + 7));
  EXPECT_FALSE(map.volume_offset({LunIndex(0), LunOffset(kReservedBytes - 1)}));
  EXPECT_FALSE(map.volume_offset(position(0, kUnit)));
  EXPECT_FALSE(map.volume_offset(position(2, 0)));
}

TEST(StripeMap, ImpossibleMapsAreRefused) {
  const StripeSegment good{.lun_count = 1, .bytes_per_lun = 16 * kMiB};
  const auto refused = [](std::vector<StripeSegment> segments, std::uint32_t unit) {
    const auto map = StripeMap::create(segments, unit);
    return !map && map.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused({}, kUnit));
  for (const std::uint32_t unit : {0u, 1u, 32768u, 65535u, 65537u, 196608u, 33554432u})
    EXPECT_TRUE(refused({good}, unit)) << unit;
  EXPECT_FALSE(refused({good}, 16 * kMiB));
  EXPECT_TRUE(refused({good, {.lun_count = 0, .bytes_per_lun = kUnit}}, kUnit));
  EXPECT_TRUE(refused({good, {.lun_count = 1, .bytes_per_lun = 0}}, kUnit));
  EXPECT_TRUE(refused({good, {.lun_count = 1, .bytes_per_lun = kUnit + 1}}, kUnit));
  EXPECT_FALSE(refused({{.lun_count = 256, .bytes_per_lun = kVolumeBytesMax / 256}}, kUnit));
  EXPECT_TRUE(refused({{.lun_count = 256, .bytes_per_lun = kVolumeBytesMax / 128}}, kUnit));
  EXPECT_TRUE(refused({{.lun_count = 4, .bytes_per_lun = std::uint64_t{1} << 63}}, kUnit));
}

TEST(StripeMap, LocateBeyondTheEndIsABug) {
  const StripeMap map = map_of({{.lun_count = 1, .bytes_per_lun = kUnit}});
  EXPECT_DEATH(map.locate(VolumeOffset(kUnit)), "");
}

}  // namespace
}  // namespace symnas::cvm
