#include "cvm/stripe_map.h"

#include <algorithm>
#include <bit>

#include <fmt/core.h>

namespace symnas::cvm {

Result<StripeMap> StripeMap::create(std::span<const StripeSegment> segments,
                                    std::uint32_t stripe_unit_bytes) {
  const auto invalid = [](std::string why) {
    return fail(ErrorCode::kInvalidArgument, std::move(why));
  };
  if (!std::has_single_bit(stripe_unit_bytes) || stripe_unit_bytes < kStripeUnitBytesMin ||
      stripe_unit_bytes > kStripeUnitBytesMax)
    return invalid(fmt::format("stripe unit {}: must be a power of two from {} KiB to {} MiB",
                               stripe_unit_bytes, kStripeUnitBytesMin / kKiB,
                               kStripeUnitBytesMax / kMiB));
  if (segments.empty()) return invalid("a volume needs at least one segment");
  StripeMap map;
  map.unit_shift_ = static_cast<std::uint32_t>(std::countr_zero(stripe_unit_bytes));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const StripeSegment& segment = segments[i];
    if (segment.lun_count == 0 || segment.bytes_per_lun == 0 ||
        segment.bytes_per_lun % stripe_unit_bytes != 0)
      return invalid(fmt::format(
          "segment {}: {} bytes on each of {} LUNs; needs LUNs, and a multiple of the stripe "
          "unit {}",
          i, segment.bytes_per_lun, segment.lun_count, stripe_unit_bytes));
    const std::uint64_t room = kVolumeBytesMax - map.size_bytes_;
    if (segment.bytes_per_lun > room / segment.lun_count)
      return invalid(
          fmt::format("segment {}: the volume would exceed {} bytes", i, kVolumeBytesMax));
    map.segments_.push_back({.begin = map.size_bytes_,
                             .bytes_per_lun = segment.bytes_per_lun,
                             .first_lun = map.lun_count_,
                             .lun_count = segment.lun_count});
    map.size_bytes_ += segment.bytes_per_lun * segment.lun_count;
    map.lun_count_ += segment.lun_count;
  }
  return map;
}

const StripeMap::Segment& StripeMap::segment_of_lun(LunIndex lun) const {
  CHECK(lun.value() < lun_count_);
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), lun.value(),
      [](std::uint32_t index, const Segment& segment) { return index < segment.first_lun; });
  return *std::prev(after);
}

std::uint64_t StripeMap::bytes_on(LunIndex lun) const { return segment_of_lun(lun).bytes_per_lun; }

LunPosition StripeMap::locate(VolumeOffset offset) const {
  CHECK(offset.value() < size_bytes_);
  const auto after =
      std::upper_bound(segments_.begin(), segments_.end(), offset.value(),
                       [](std::uint64_t at, const Segment& segment) { return at < segment.begin; });
  const Segment& segment = *std::prev(after);
  const std::uint64_t within = offset.value() - segment.begin;
  const std::uint64_t unit = within >> unit_shift_;
  const std::uint64_t row = unit / segment.lun_count;
  const auto column = static_cast<std::uint32_t>(unit % segment.lun_count);
  const std::uint64_t rest = within & (stripe_unit_bytes() - 1);
  return {LunIndex(segment.first_lun + column),
          LunOffset(kReservedBytes + (row << unit_shift_) + rest)};
}

Result<VolumeOffset> StripeMap::volume_offset(LunPosition position) const {
  if (position.lun.value() >= lun_count_)
    return fail(ErrorCode::kOutOfRange,
                fmt::format("LUN index {} of {}", position.lun.value(), lun_count_));
  const Segment& segment = segment_of_lun(position.lun);
  const std::uint64_t at = position.offset.value();
  if (at < kReservedBytes || at - kReservedBytes >= segment.bytes_per_lun)
    return fail(ErrorCode::kOutOfRange,
                fmt::format("offset {} is outside the data area of LUN index {}", at,
                            position.lun.value()));
  const std::uint64_t row = (at - kReservedBytes) >> unit_shift_;
  const std::uint64_t rest = (at - kReservedBytes) & (stripe_unit_bytes() - 1);
  const std::uint64_t unit = row * segment.lun_count + (position.lun.value() - segment.first_lun);
  return VolumeOffset(segment.begin + (unit << unit_shift_) + rest);
}

}  // namespace symnas::cvm
