#include "ha/reservation/scsi_wire.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "ha/reservation/limits.h"

namespace symnas::ha {
namespace {

constexpr std::size_t kHeaderBytes = 8;  // generation, additional length
constexpr std::size_t kKeyBytes = 8;
constexpr std::size_t kReservationBytes = 16;

std::uint32_t byte_at(std::string_view in, std::size_t offset) {
  return static_cast<unsigned char>(in[offset]);
}

tl::unexpected<Error> damaged(std::string_view what, std::string_view why) {
  return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", what, why));
}

}  // namespace

std::size_t read_keys_bytes(std::string_view answer) { return kHeaderBytes + read_be32(answer, 4); }

Result<Registrations> parse_read_keys(std::string_view answer) {
  if (answer.size() < kHeaderBytes) {
    return damaged("READ KEYS", fmt::format("{} bytes are no header", answer.size()));
  }
  const std::size_t listed = read_be32(answer, 4);
  if (listed % kKeyBytes != 0) {
    return damaged("READ KEYS", fmt::format("{} bytes of keys", listed));
  }
  if (listed > answer.size() - kHeaderBytes) {
    return fail(ErrorCode::kTooLarge, fmt::format("READ KEYS: {} bytes of keys, {} were sent",
                                                  listed, answer.size() - kHeaderBytes));
  }
  Registrations registrations{.generation = read_be32(answer, 0)};
  for (std::size_t at = kHeaderBytes; at < kHeaderBytes + listed; at += kKeyBytes) {
    const ReservationKey key(read_be64(answer, at));
    if (key == ReservationKey()) return damaged("READ KEYS", "a registration with key 0");
    registrations.keys.push_back(key);
  }
  return registrations;
}

Result<Registrations> read_all_keys(const std::function<Result<std::string>(std::size_t)>& ask) {
  std::size_t room = kReadKeysBytesFirst;
  for (;;) {
    SYMNAS_ASSIGN(std::string answer, ask(room));
    if (answer.size() > room) {
      return damaged("READ KEYS", fmt::format("{} bytes for {}", answer.size(), room));
    }
    auto keys = parse_read_keys(answer);
    if (!keys && keys.error().code != ErrorCode::kTooLarge) return keys;
    const std::size_t complete = read_keys_bytes(answer);
    if (keys && complete < room) return keys;
    // The LUN has sent less than it announces although there was room: a larger buffer does not
    // help.
    if (!keys && complete < room) return damaged("READ KEYS", keys.error().message);
    if (room == kReadKeysBytesMax) {
      return fail(ErrorCode::kTooLarge, fmt::format("READ KEYS: more than {} registrations",
                                                    kReadKeysBytesMax / kKeyBytes - 1));
    }
    room = std::min(kReadKeysBytesMax, std::max(room * 2, complete + kReadKeysBytesFirst));
  }
}

Result<ReservationAnswer> parse_read_reservation(std::string_view answer) {
  constexpr std::string_view kWhat = "READ RESERVATION";
  if (answer.size() < kHeaderBytes) {
    return damaged(kWhat, fmt::format("{} bytes are no header", answer.size()));
  }
  ReservationAnswer parsed{.generation = read_be32(answer, 0)};
  const std::size_t listed = read_be32(answer, 4);
  if (listed == 0) return parsed;
  if (listed != kReservationBytes || answer.size() < kHeaderBytes + kReservationBytes) {
    return damaged(
        kWhat, fmt::format("{} bytes announced, {} sent", listed, answer.size() - kHeaderBytes));
  }
  const std::uint32_t scope_and_type = byte_at(answer, 21);
  if (scope_and_type >> 4 != 0) {
    return damaged(kWhat, fmt::format("scope {} is not the whole LUN", scope_and_type >> 4));
  }
  parsed.reservation = Reservation{ReservationKey(read_be64(answer, 8)),
                                   static_cast<std::uint8_t>(scope_and_type & 0xf)};
  return parsed;
}

Result<Capabilities> parse_report_capabilities(std::string_view answer) {
  if (answer.size() < 8 || byte_at(answer, 0) != 0 || byte_at(answer, 1) < 8) {
    return damaged("REPORT CAPABILITIES", fmt::format("{} bytes", answer.size()));
  }
  const bool mask_is_valid = (byte_at(answer, 3) & 0x80) != 0;  // TMV
  return Capabilities{.survives_power_loss = (byte_at(answer, 2) & 0x01) != 0,
                      .knows_type = !mask_is_valid || (byte_at(answer, 4) & 0x40) != 0};
}

Result<std::string> parse_identification(std::string_view page) {
  constexpr std::string_view kWhat = "VPD page 83h";
  if (page.size() < 4 || byte_at(page, 1) != 0x83) return damaged(kWhat, "no such page");
  const std::size_t end = 4 + (byte_at(page, 2) << 8 | byte_at(page, 3));
  if (end > page.size()) {
    return damaged(kWhat, fmt::format("{} bytes announced, {} sent", end, page.size()));
  }
  std::string naa;
  std::string eui;
  for (std::size_t at = 4; at < end;) {
    if (end - at < 4 || end - at - 4 < byte_at(page, at + 3)) {
      return damaged(kWhat, "a designator goes beyond the end");
    }
    const std::size_t length = byte_at(page, at + 3);
    const std::string value = to_hex(page.substr(at + 4, length));
    const bool of_the_lun = (byte_at(page, at + 1) >> 4 & 0x3) == 0;
    const std::uint32_t type = byte_at(page, at + 1) & 0xf;
    const bool unique = length >= 8 && value.find_first_not_of('0') != std::string::npos;
    if (of_the_lun && unique && type == 3 && value > naa) naa = value;
    if (of_the_lun && unique && type == 2 && value > eui) eui = value;
    at += 4 + length;
  }
  if (!naa.empty()) return "naa." + naa;
  if (!eui.empty()) return "eui." + eui;
  return fail(ErrorCode::kNotFound, fmt::format("{}: the LUN has neither NAA nor EUI-64", kWhat));
}

}  // namespace symnas::ha
