// The Reservation Report of an NVMe namespace. Pure functions over bytes of another machine.
// Source: NVM Express Base Specification 2.0, 7.6 (Reservation Report). Never tried on hardware.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/result.h"
#include "ha/reservation/scsi_wire.h"

namespace symnas::ha {

// kExtended: with host identifiers of 128 bits (EDS = 1), as with NVMe over fabrics.
enum class NvmeReport { kPlain, kExtended };

struct NvmeReservations {
  Registrations registrations;
  std::optional<Reservation> reservation;
};

// Errors: kTooLarge (the report has more controllers than there are bytes), kCorrupt.
Result<NvmeReservations> parse_reservation_report(std::string_view report, NvmeReport kind);

}  // namespace symnas::ha
