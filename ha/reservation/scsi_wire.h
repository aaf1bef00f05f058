// Parsers of a LUN's answers to PERSISTENT RESERVE IN and INQUIRY, byte by byte. Pure functions
// over bytes of another machine: whatever the bytes are, the result is a value or an error.
//
// Source: SPC-4 6.15 (PERSISTENT RESERVE IN), 7.8.6 (VPD page 83h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "ha/reservation/registrations.h"

namespace symnas::ha {

// READ KEYS. Errors: kTooLarge (there are more keys than bytes: read again with a larger buffer),
// kCorrupt.
Result<Registrations> parse_read_keys(std::string_view answer);

// The bytes that this READ KEYS answer would have if it were complete. REQUIRES: >= 8 bytes.
std::size_t read_keys_bytes(std::string_view answer);

// Asks with a growing buffer until the answer fits with room to spare: a device might count only
// the keys that it has sent. Each answer stands alone: two answers are never joined, because the
// keys may have changed in between. `ask` returns at most as many bytes as it is told. Errors:
// those of ask; kCorrupt; kTooLarge (more keys than one command can return).
Result<Registrations> read_all_keys(const std::function<Result<std::string>(std::size_t)>& ask);

// READ RESERVATION: a reservation of the whole LUN, or none. Errors: kCorrupt.
struct ReservationAnswer {
  std::uint32_t generation = 0;
  std::optional<Reservation> reservation;
};
Result<ReservationAnswer> parse_read_reservation(std::string_view answer);

// REPORT CAPABILITIES. Errors: kCorrupt.
Result<Capabilities> parse_report_capabilities(std::string_view answer);

// VPD page 83h: the world-wide name of the LUN, "naa.600..." or "eui.001...". Errors: kCorrupt,
// kNotFound (it has neither).
Result<std::string> parse_identification(std::string_view page);

}  // namespace symnas::ha
