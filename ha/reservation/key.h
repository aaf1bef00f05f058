// ReservationKey: the name of a head's boot incarnation on a LUN. Pure functions.
//
// 64 bits: 0x53 ('S'), then 56 bits of a hash of "HEAD/BOOT-ID" (docs/formats/reservation.md).
// Never 0, which means "no key" (SPC-4 6.16). A boot id is random, so no two boots share a key, and
// a late PREEMPT that was decided earlier hits no new boot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/strong.h"

namespace symnas::ha {

using ReservationKey = Strong<struct ReservationKeyTag, std::uint64_t>;

// incarnation: "HEAD/BOOT-ID".
ReservationKey key_of(std::string_view incarnation);

// "0x" and 16 hexadecimal digits.
std::string render_key(ReservationKey key);

// Parses what a person writes on a command line: a key as above (1 to 16 digits), or an
// incarnation.
// Errors: kInvalidArgument (0, which is no key; or neither of the two).
Result<ReservationKey> parse_key(std::string_view text);

}  // namespace symnas::ha
