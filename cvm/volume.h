// Makes, grows and checks volume records. Pure functions on protobuf values; the caller stores the
// records under compares.
//
// Thread-safe. Format: docs/formats/volume_record.md.
// Invariants: a LUN is in at most one segment of one volume; growing only appends, so that no byte
// moves; the logical block size of a volume never grows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/uuid.h"
#include "cvm/records.pb.h"
#include "cvm/stripe_map.h"

namespace symnas::cvm {

// 16 raw bytes of a record field. Errors: kCorrupt when it has another length.
Result<Uuid> uuid_from_bytes(std::string_view bytes);
std::string uuid_to_bytes(const Uuid& uuid);

// Bytes of data that a LUN of `lun_size_bytes` contributes: from kReservedBytes to (size -
// kReservedBytes) rounded down to the stripe unit. 0 when nothing remains.
std::uint64_t data_bytes_of_lun(std::uint64_t lun_size_bytes, std::uint32_t stripe_unit_bytes);

// Errors: kInvalidArgument unless a power of two from 64 KiB to 16 MiB.
Status check_stripe_unit(std::uint64_t stripe_unit_bytes);

// A volume of version 1 with one segment over `luns` in this order. Of LUNs of different sizes each
// contributes as much as the smallest has. Errors: kInvalidArgument (name, stripe unit, no LUN, a
// LUN twice, more than kLunsPerVolumeMax), kBusy (a LUN is used by a volume; the message names
// both).
Result<records::VolumeRecord> create_volume(std::string_view name, const Uuid& uuid,
                                            std::span<const records::LunRecord> luns,
                                            std::uint32_t stripe_unit_bytes);

// The same volume with one more segment and version + 1. `present`: the current records of all its
// LUNs. Errors: as create_volume(), kNotFound (a present LUN's record is missing), kInvalidArgument
// (a new LUN has larger logical blocks than the volume), kCorrupt (the volume record is damaged).
Result<records::VolumeRecord> grow_volume(const records::VolumeRecord& volume,
                                          std::span<const records::LunRecord> present,
                                          std::span<const records::LunRecord> added);

// Checks everything that can be checked without the LUNs. Errors: kCorrupt, naming volume and
// segment.
Status validate_volume(const records::VolumeRecord& volume);

// The mapping of a record. Errors: as validate_volume().
Result<StripeMap> stripe_map_of(const records::VolumeRecord& volume);

// LUN uuids of all segments, in LunIndex order. REQUIRES: validate_volume().
std::vector<Uuid> luns_of(const records::VolumeRecord& volume);

std::uint64_t volume_size_bytes(const records::VolumeRecord& volume);

}  // namespace symnas::cvm
