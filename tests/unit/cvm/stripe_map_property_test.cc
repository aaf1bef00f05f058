#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "cvm/stripe_map.h"

namespace symnas::cvm {
namespace {

struct Shape {
  std::uint32_t unit = 0;
  std::vector<StripeSegment> segments;
  StripeMap map() const { return *StripeMap::create(segments, unit); }
};

// Any legal map, up to petabytes.
Shape any_shape() {
  Shape shape;
  shape.unit = std::uint32_t{1} << *rc::gen::inRange(16, 25);
  const int count = *rc::gen::inRange(1, 9);
  for (int i = 0; i < count; ++i)
    shape.segments.push_back(
        {.lun_count = *rc::gen::inRange<std::uint32_t>(1, 17),
         .bytes_per_lun = shape.unit * *rc::gen::inRange<std::uint64_t>(
                                           1, *rc::gen::element<std::uint64_t>(4, 1u << 20))});
  return shape;
}

VolumeOffset any_offset(const StripeMap& map) {
  // Half of the offsets are at a boundary of a stripe unit, where arithmetic goes wrong.
  const auto at = *rc::gen::inRange<std::uint64_t>(0, map.size_bytes());
  if (*rc::gen::arbitrary<bool>()) return VolumeOffset(at);
  const std::uint64_t unit = map.stripe_unit_bytes();
  const std::uint64_t boundary = at / unit * unit;
  return VolumeOffset(*rc::gen::arbitrary<bool>() && boundary > 0 ? boundary - 1 : boundary);
}

RC_GTEST_PROP(StripeMapProperty, LocateAndInverseAreOneToOne, ()) {
  const StripeMap map = any_shape().map();
  const VolumeOffset offset = any_offset(map);
  const LunPosition position = map.locate(offset);
  RC_ASSERT(position.lun.value() < map.lun_count());
  RC_ASSERT(position.offset.value() >= kReservedBytes);
  RC_ASSERT(position.offset.value() < kReservedBytes + map.bytes_on(position.lun));
  RC_ASSERT(*map.volume_offset(position) == offset);
}

RC_GTEST_PROP(StripeMapProperty, EveryPlaceOfEveryLunBelongsToOneOffset, ()) {
  const StripeMap map = any_shape().map();
  const LunIndex lun(*rc::gen::inRange<std::uint32_t>(0, map.lun_count()));
  const LunPosition position{
      lun, LunOffset(kReservedBytes + *rc::gen::inRange<std::uint64_t>(0, map.bytes_on(lun)))};
  const auto offset = map.volume_offset(position);
  RC_ASSERT(offset.has_value());
  RC_ASSERT(map.locate(*offset) == position);
}

RC_GTEST_PROP(StripeMapProperty, PiecesTileTheRangeAndStayInTheirUnits, ()) {
  const StripeMap map = any_shape().map();
  const VolumeOffset begin = any_offset(map);
  const std::uint64_t unit = map.stripe_unit_bytes();
  const std::uint64_t length = *rc::gen::inRange<std::uint64_t>(
      1, std::min(map.size_bytes() - begin.value(), 20 * unit) + 1);
  std::uint64_t next = begin.value();
  std::size_t count = 0;
  map.for_each_piece(begin, length, [&](const Piece& piece) {
    RC_ASSERT(piece.volume_offset.value() == next);
    RC_ASSERT(piece.length_bytes >= 1u && piece.length_bytes <= unit);
    RC_ASSERT(piece.position == map.locate(piece.volume_offset));
    const VolumeOffset last(next + piece.length_bytes - 1);
    RC_ASSERT(last.value() / unit == next / unit);
    RC_ASSERT(map.locate(last).lun == piece.position.lun);
    RC_ASSERT(map.locate(last).offset.value() - piece.position.offset.value() ==
              piece.length_bytes - 1);
    next += piece.length_bytes;
    ++count;
  });
  RC_ASSERT(next == begin.value() + length);
  RC_ASSERT(count <= length / unit + 2);
}

RC_GTEST_PROP(StripeMapProperty, GrowingMovesNoByte, ()) {
  const Shape shape = any_shape();
  Shape grown = shape;
  grown.segments.push_back(
      {.lun_count = *rc::gen::inRange<std::uint32_t>(1, 9), .bytes_per_lun = shape.unit});
  const StripeMap before = shape.map();
  const StripeMap after = grown.map();
  const VolumeOffset offset = any_offset(before);
  RC_ASSERT(before.locate(offset) == after.locate(offset));
  RC_ASSERT(after.locate(VolumeOffset(before.size_bytes())).lun.value() == before.lun_count());
}

// 256 LUNs of 4 TiB: 1 PiB. With 32-bit arithmetic anywhere, different places would become the
// same.
TEST(StripeMapLarge, BeyondEveryThirtyTwoBitLimit) {
  constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;
  const StripeSegment segment{.lun_count = 256, .bytes_per_lun = 4 * kTiB};
  const StripeMap map = *StripeMap::create(std::span(&segment, 1), kMiB);
  EXPECT_EQ(map.size_bytes(), 1024 * kTiB);
  const VolumeOffset at(130 * kTiB + 5 * kMiB + 17);
  const LunPosition position = map.locate(at);
  EXPECT_EQ(position.lun.value(), 5u);
  EXPECT_EQ(position.offset.value(), kReservedBytes + 130 * kTiB / 256 + 17);
  EXPECT_EQ(*map.volume_offset(position), at);
  EXPECT_EQ(map.locate(VolumeOffset(map.size_bytes() - 1)).offset.value(),
            kReservedBytes + 4 * kTiB - 1);
}

}  // namespace
}  // namespace symnas::cvm
