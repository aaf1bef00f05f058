#include "ha/reservation/nvme_wire.h"

#include <span>

#include <fmt/core.h>

#include "common/base/bytes.h"

namespace symnas::ha {
namespace {

constexpr std::uint8_t kTypes = 7;
// NVMe's number of a type -> SPC-4's.
constexpr std::uint8_t kScsiType[kTypes] = {0, 1, 3, 5, 6, 7, 8};

std::uint32_t byte_at(std::string_view in, std::size_t offset) {
  return static_cast<unsigned char>(in[offset]);
}

}  // namespace

Result<NvmeReservations> parse_reservation_report(std::string_view report, NvmeReport kind) {
  const bool extended = kind == NvmeReport::kExtended;
  const std::size_t header = extended ? 64 : 24;
  const std::size_t entry = extended ? 64 : 24;
  const std::size_t key_at = extended ? 8 : 16;
  if (report.size() < header) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("reservation report: {} bytes are no header", report.size()));
  }
  const std::span bytes = std::as_bytes(std::span(report));
  const std::size_t count = byte_at(report, 5) | byte_at(report, 6) << 8;
  if (count > (report.size() - header) / entry) {
    return fail(ErrorCode::kTooLarge, fmt::format("reservation report: {} controllers in {} bytes",
                                                  count, report.size()));
  }
  const std::uint32_t type = byte_at(report, 4);
  if (type >= kTypes) {
    return fail(ErrorCode::kCorrupt, fmt::format("reservation report: type {}", type));
  }
  NvmeReservations parsed{.registrations = {.generation = load_le32(bytes, 0), .keys = {}},
                          .reservation = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = header + i * entry;
    const ReservationKey key(load_le64(bytes, at + key_at));
    if (key == ReservationKey()) {
      return fail(ErrorCode::kCorrupt, "reservation report: a registration with key 0");
    }
    parsed.registrations.keys.push_back(key);
    if ((byte_at(report, at + 2) & 1) != 0 && type != 0) {
      parsed.reservation = Reservation{key, kScsiType[type]};
    }
  }
  if (type != 0 && !parsed.reservation) {
    return fail(ErrorCode::kCorrupt, "reservation report: a reservation that nobody holds");
  }
  return parsed;
}

}  // namespace symnas::ha
