// StripeMap: which byte of which LUN holds a byte of a volume. Pure arithmetic.
//
// Thread class: immutable after create(), safe to share.
// Invariants: the segments cover [0, size_bytes()) without gap or overlap; the mapping is one to
// one onto the LUNs' data areas; no piece crosses a stripe-unit boundary; nothing maps below
// kReservedBytes of a LUN. Format: docs/formats/volume_record.md. Idea: RAID 0 of Patterson,
// Gibson, Katz (SIGMOD 1988).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/check.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "cvm/limits.h"

namespace symnas::cvm {

// Where one byte is.
struct LunPosition {
  LunIndex lun;
  LunOffset offset;
  friend bool operator==(const LunPosition&, const LunPosition&) = default;
};

// Bytes that are consecutive in a request and on one LUN.
struct Piece {
  LunPosition position;
  VolumeOffset volume_offset;
  std::uint32_t length_bytes = 0;  // 1 .. stripe unit
};

// One run of a volume, striped over `lun_count` LUNs that no other segment uses.
struct StripeSegment {
  std::uint32_t lun_count = 0;
  std::uint64_t bytes_per_lun = 0;  // multiple of the stripe unit
};

class StripeMap {
 public:
  // An empty map; replaced by create().
  StripeMap() = default;

  // LUN indices count through the segments in order: the first segment has 0 .. lun_count - 1, and
  // so on. Errors: kInvalidArgument, naming the segment: stripe unit no power of two in [64 KiB, 16
  // MiB]; no segment; a segment without LUNs or bytes, or whose bytes_per_lun is no multiple of the
  // unit; more than kVolumeBytesMax.
  static Result<StripeMap> create(std::span<const StripeSegment> segments,
                                  std::uint32_t stripe_unit_bytes);

  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint32_t stripe_unit_bytes() const { return std::uint32_t{1} << unit_shift_; }
  std::uint32_t lun_count() const { return lun_count_; }  // for tests
  // Bytes of data on a LUN; its data area is [kReservedBytes, kReservedBytes + bytes_on(lun)).
  std::uint64_t bytes_on(LunIndex lun) const;

  // Whether [offset, offset + length_bytes) lies within the volume.
  bool contains(VolumeOffset offset, std::uint64_t length_bytes) const {
    return offset.value() <= size_bytes_ && length_bytes <= size_bytes_ - offset.value();
  }

  // REQUIRES: offset < size_bytes(). Cost: a binary search over the segments.
  LunPosition locate(VolumeOffset offset) const;

  // For tests: the inverse of locate(). Errors: kOutOfRange when the position is outside the LUN's
  // data area.
  Result<VolumeOffset> volume_offset(LunPosition position) const;

  // Calls visit(Piece) for the pieces of a range in ascending volume order; at most length / unit +
  // 2 of them. REQUIRES: contains(offset, length_bytes).
  template <class Visit>
  void for_each_piece(VolumeOffset offset, std::uint64_t length_bytes, Visit&& visit) const {
    CHECK(contains(offset, length_bytes));
    const std::uint64_t unit = stripe_unit_bytes();
    std::uint64_t at = offset.value();
    while (length_bytes > 0) {
      const std::uint64_t to_boundary = unit - (at & (unit - 1));
      const std::uint64_t length = to_boundary < length_bytes ? to_boundary : length_bytes;
      visit(Piece{.position = locate(VolumeOffset(at)),
                  .volume_offset = VolumeOffset(at),
                  .length_bytes = static_cast<std::uint32_t>(length)});
      at += length;
      length_bytes -= length;
    }
  }

 private:
  struct Segment {
    std::uint64_t begin = 0;  // volume offset
    std::uint64_t bytes_per_lun = 0;
    std::uint32_t first_lun = 0;
    std::uint32_t lun_count = 0;
  };
  const Segment& segment_of_lun(LunIndex lun) const;

  std::vector<Segment> segments_;  // ascending begin
  std::uint64_t size_bytes_ = 0;
  std::uint32_t lun_count_ = 0;
  std::uint32_t unit_shift_ = 16;
};

}  // namespace symnas::cvm
