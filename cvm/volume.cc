#include "cvm/volume.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include <fmt/core.h>

#include "common/base/check.h"
#include "cvm/label.h"

namespace symnas::cvm {
namespace {

using records::LunRecord;
using records::SegmentRecord;
using records::VolumeRecord;

// Appends a segment over `luns` to `volume` after checking them.
Status append_segment(VolumeRecord& volume, std::span<const LunRecord> luns) {
  const std::string& name = volume.name();
  const auto invalid = [&](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("volume {}: {}", name, why));
  };
  if (luns.empty()) return invalid("name at least one LUN");
  std::set<std::string> used;
  for (const SegmentRecord& segment : volume.segments())
    used.insert(segment.lun_uuids().begin(), segment.lun_uuids().end());
  SegmentRecord segment;
  segment.set_begin(volume_size_bytes(volume));
  std::uint64_t least = UINT64_MAX;
  for (const LunRecord& lun : luns) {
    if (!lun.volume().empty())
      return fail(ErrorCode::kBusy, fmt::format("volume {}: lun {} is used by volume {}", name,
                                                lun.name(), lun.volume()));
    SYMNAS_TRY(uuid_from_bytes(lun.uuid()));
    if (!used.insert(lun.uuid()).second)
      return invalid(fmt::format("lun {} is named twice", lun.name()));
    least = std::min(least, data_bytes_of_lun(lun.size_bytes(), volume.stripe_unit_bytes()));
    segment.add_lun_uuids(lun.uuid());
  }
  if (least == 0) return invalid("a LUN is too small for one stripe unit");
  if (used.size() > kLunsPerVolumeMax)
    return invalid(fmt::format("more than {} LUNs", kLunsPerVolumeMax));
  if (static_cast<std::size_t>(volume.segments_size()) >= kSegmentsPerVolumeMax)
    return invalid(
        fmt::format("it has been grown {} times, the most possible", volume.segments_size() - 1));
  segment.set_bytes_per_lun(least);
  *volume.add_segments() = std::move(segment);
  if (Result<StripeMap> map = stripe_map_of(volume); !map)
    return fail(ErrorCode::kInvalidArgument, map.error().message);
  return {};
}

std::uint32_t largest_block(std::span<const LunRecord> luns) {
  std::uint32_t largest = 0;
  for (const LunRecord& lun : luns) largest = std::max(largest, lun.logical_block_bytes());
  return largest;
}

}  // namespace

Result<Uuid> uuid_from_bytes(std::string_view bytes) {
  Uuid uuid;
  if (bytes.size() != uuid.bytes.size())
    return fail(ErrorCode::kCorrupt, fmt::format("a uuid of {} bytes instead of 16", bytes.size()));
  std::memcpy(uuid.bytes.data(), bytes.data(), bytes.size());
  return uuid;
}

std::string uuid_to_bytes(const Uuid& uuid) {
  return {reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()};
}

std::uint64_t data_bytes_of_lun(std::uint64_t lun_size_bytes, std::uint32_t stripe_unit_bytes) {
  if (lun_size_bytes < 2 * kReservedBytes) return 0;
  const std::uint64_t between = lun_size_bytes - 2 * kReservedBytes;
  return between / stripe_unit_bytes * stripe_unit_bytes;
}

Status check_stripe_unit(std::uint64_t stripe_unit_bytes) {
  if (std::has_single_bit(stripe_unit_bytes) && stripe_unit_bytes >= kStripeUnitBytesMin &&
      stripe_unit_bytes <= kStripeUnitBytesMax)
    return {};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("stripe unit {}: must be a power of two from {} KiB to {} MiB", stripe_unit_bytes,
                  kStripeUnitBytesMin / kKiB, kStripeUnitBytesMax / kMiB));
}

Result<VolumeRecord> create_volume(std::string_view name, const Uuid& uuid,
                                   std::span<const LunRecord> luns,
                                   std::uint32_t stripe_unit_bytes) {
  SYMNAS_TRY(check_name("volume", name));
  SYMNAS_TRY(check_stripe_unit(stripe_unit_bytes));
  VolumeRecord volume;
  volume.set_name(std::string(name));
  volume.set_uuid(uuid_to_bytes(uuid));
  volume.set_stripe_unit_bytes(stripe_unit_bytes);
  volume.set_version(1);
  SYMNAS_TRY(append_segment(volume, luns));
  return volume;
}

Result<VolumeRecord> grow_volume(const VolumeRecord& volume, std::span<const LunRecord> present,
                                 std::span<const LunRecord> added) {
  SYMNAS_TRY(validate_volume(volume));
  std::vector<LunRecord> members;
  for (const Uuid& uuid : luns_of(volume)) {
    const auto it = std::find_if(present.begin(), present.end(), [&](const LunRecord& lun) {
      return lun.uuid() == uuid_to_bytes(uuid);
    });
    if (it == present.end())
      return fail(ErrorCode::kNotFound, fmt::format("volume {}: no record of its LUN {}",
                                                    volume.name(), uuid.to_string()));
    members.push_back(*it);
  }
  if (largest_block(added) > largest_block(members))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("volume {}: has logical blocks of {} bytes, a new LUN has {}: its "
                            "users could not write "
                            "single blocks any more",
                            volume.name(), largest_block(members), largest_block(added)));
  VolumeRecord grown = volume;
  SYMNAS_TRY(append_segment(grown, added));
  grown.set_version(volume.version() + 1);
  return grown;
}

Status validate_volume(const VolumeRecord& volume) {
  SYMNAS_TRY(stripe_map_of(volume));
  return {};
}

Result<StripeMap> stripe_map_of(const VolumeRecord& volume) {
  const auto corrupt = [&](const std::string& why) {
    return fail(ErrorCode::kCorrupt, fmt::format("volume record {}: {}", volume.name(), why));
  };
  if (!check_name("volume", volume.name())) return corrupt("impossible name");
  if (!uuid_from_bytes(volume.uuid())) return corrupt("its uuid has not 16 bytes");
  if (volume.version() == 0) return corrupt("version 0");
  std::vector<StripeSegment> segments;
  std::set<std::string> used;
  std::uint64_t begin = 0;
  for (int i = 0; i < volume.segments_size(); ++i) {
    const SegmentRecord& segment = volume.segments(i);
    if (segment.begin() != begin)
      return corrupt(
          fmt::format("segment {} begins at {}, expected {}", i, segment.begin(), begin));
    for (const std::string& uuid : segment.lun_uuids()) {
      if (!uuid_from_bytes(uuid))
        return corrupt(fmt::format("segment {}: a LUN uuid has not 16 bytes", i));
      if (!used.insert(uuid).second)
        return corrupt(
            fmt::format("segment {}: LUN {} is used twice", i, uuid_from_bytes(uuid)->to_string()));
    }
    segments.push_back({.lun_count = static_cast<std::uint32_t>(segment.lun_uuids_size()),
                        .bytes_per_lun = segment.bytes_per_lun()});
    begin += segment.bytes_per_lun() * static_cast<std::uint64_t>(segment.lun_uuids_size());
  }
  Result<StripeMap> map = StripeMap::create(segments, volume.stripe_unit_bytes());
  if (!map) return corrupt(map.error().message);
  return map;
}

std::vector<Uuid> luns_of(const VolumeRecord& volume) {
  std::vector<Uuid> luns;
  for (const SegmentRecord& segment : volume.segments()) {
    for (const std::string& bytes : segment.lun_uuids()) {
      const Result<Uuid> uuid = uuid_from_bytes(bytes);
      CHECK(uuid.has_value(), "the record was validated");
      luns.push_back(*uuid);
    }
  }
  return luns;
}

std::uint64_t volume_size_bytes(const VolumeRecord& volume) {
  std::uint64_t bytes = 0;
  for (const SegmentRecord& segment : volume.segments())
    bytes += segment.bytes_per_lun() * static_cast<std::uint64_t>(segment.lun_uuids_size());
  return bytes;
}

}  // namespace symnas::cvm
