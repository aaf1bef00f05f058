// The reports of a LUN about its reservation and registrations. Thread class: value types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ha/reservation/key.h"

namespace symnas::ha {

// Exclusive Access - Registrants Only, in the numbers of SPC-4. NVMe and <linux/pr.h> number it 4.
inline constexpr std::uint8_t kExclusiveAccessRegistrantsOnly = 6;

struct Registrations {
  std::uint32_t generation = 0;      // grows with every change of the registrations
  std::vector<ReservationKey> keys;  // one per path (I_T nexus): a key may be here several times
  friend bool operator==(const Registrations&, const Registrations&) = default;
};

struct Reservation {
  ReservationKey holder;
  std::uint8_t type = 0;  // in the numbers of SPC-4
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

struct Capabilities {
  bool survives_power_loss = false;  // PTPL_C: the LUN can keep registrations through a power loss
  bool knows_type = false;           // Exclusive Access - Registrants Only
  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

// What was seen of one LUN at one generation.
struct LunState {
  std::string device;
  std::string identity;
  Registrations registrations;
  std::optional<Reservation> reservation;
  std::optional<Capabilities> can;  // only after `keys`, and only if the LUN reports it
  std::string did;                  // what a step did here: "registered", "preempted", "reset", ...

  bool has(ReservationKey key) const {
    return std::ranges::find(registrations.keys, key) != registrations.keys.end();
  }
  friend bool operator==(const LunState&, const LunState&) = default;
};

}  // namespace symnas::ha
