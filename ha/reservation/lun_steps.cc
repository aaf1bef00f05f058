#include "ha/reservation/lun_steps.h"

#include <algorithm>

#include <fmt/core.h>

#include "ha/reservation/limits.h"
#include "ha/reservation/report.h"

namespace symnas::ha {
namespace {

tl::unexpected<Error> own_key_missing(const std::string& name, ReservationKey own) {
  return fail(ErrorCode::kFenced,
              fmt::format("{}: our own key {} is not registered: this boot has been fenced, or "
                          "never registered (stop what it runs)",
                          name, render_key(own)));
}

tl::unexpected<Error> reserved_otherwise(const std::string& name, const Reservation& held) {
  return fail(
      ErrorCode::kConflict,
      fmt::format("{}: is reserved with type {} by {}, not for registrants only (type {}): "
                  "is it another cluster's?",
                  name, held.type, render_key(held.holder), kExclusiveAccessRegistrantsOnly));
}

tl::unexpected<Error> second_registration(const std::string& name, std::string_view why) {
  return fail(ErrorCode::kPermission,
              fmt::format("{}: {}: this boot does not register a second time (reboot this head)",
                          name, why));
}

// If no registrant holds the reservation, `own` takes it.
Status hold_reservation(Device& device, LunState& seen, ReservationKey own) {
  Change change;
  for (int attempt = 0; attempt < kReserveTriesMax; ++attempt) {
    if (!seen.has(own)) return own_key_missing(seen.device, own);
    if (seen.reservation) {
      if (seen.reservation->type == kExclusiveAccessRegistrantsOnly) return {};
      return reserved_otherwise(seen.device, *seen.reservation);
    }
    change = device.reserve(own);
    SYMNAS_ASSIGN(LunState now, look(device, seen.device));
    now.did = seen.did;
    seen = std::move(now);
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: cannot be reserved: {}", seen.device, change.what));
}

// Somebody else has removed the key, and may still be waiting for the commands that this aborts:
// LIO shows the key as gone before they have ended.
Result<LunState> reset_here(Device& device, const LunState& seen, ReservationKey victim) {
  const Change change = device.reset();
  if (change.outcome != Outcome::kDone) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: key {} is gone, but nothing says that its commands have ended: "
                            "reset of the LUN: {}",
                            seen.device, render_key(victim), change.what));
  }
  SYMNAS_ASSIGN(LunState now, look(device, seen.device));
  now.did = "reset";
  return now;
}

// REQUIRES: the key is not on the LUN, and the journal has no attempt to register it.
Status enroll(Device& device, const LunState& seen, Journal& journal, ReservationKey key) {
  SYMNAS_TRY(journal.note(seen.identity, Enrolment::kBegun));
  const Change change = device.enroll(key);
  SYMNAS_ASSIGN(const LunState now, look(device, seen.device));
  if (now.has(key)) return journal.note(seen.identity, Enrolment::kDone);
  switch (change.outcome) {
    case Outcome::kDone:
      return second_registration(seen.device, "was registered and is gone again: it was preempted");
    case Outcome::kRefused:
      SYMNAS_TRY(journal.note(seen.identity, Enrolment::kNever));
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{}: refuses the registration: {}", seen.device, change.what));
    case Outcome::kUnknown: break;
  }
  return fail(ErrorCode::kUnknownOutcome,
              fmt::format("{}: not registered: {}; it may still happen (look again; if the key "
                          "does not appear, reboot this head)",
                          seen.device, change.what));
}

}  // namespace

Result<LunState> look(Device& device, const std::string& name) {
  LunState seen{.device = name};
  SYMNAS_ASSIGN(seen.identity, device.identity());
  for (int attempt = 0; attempt < kLookTriesMax; ++attempt) {
    SYMNAS_ASSIGN(seen.registrations, device.registrations());
    SYMNAS_ASSIGN(const ReservationAnswer held, device.reservation());
    seen.reservation = held.reservation;
    if (held.generation == seen.registrations.generation) return seen;
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: its registrations change all the time", name));
}

Result<LunState> may_register(Device& device, const std::string& name, const Journal& journal,
                              ReservationKey key) {
  SYMNAS_ASSIGN(const Capabilities can, device.capabilities());
  if (const std::string cannot = why_cannot_fence(can); !cannot.empty())
    return fail(ErrorCode::kNotSupported, fmt::format("{}: {}: it cannot fence", name, cannot));
  SYMNAS_ASSIGN(LunState seen, look(device, name));
  if (seen.reservation && seen.reservation->type != kExclusiveAccessRegistrantsOnly) {
    return reserved_otherwise(name, *seen.reservation);
  }
  if (const std::string other = journal.other_key_of(seen.identity); !other.empty())
    return second_registration(name, fmt::format("it has registered as {} before", other));
  const Enrolment before = journal.of(seen.identity);
  if (before == Enrolment::kWithdrawn) {
    return second_registration(name, "its registration was given back");
  }
  if (!seen.has(key) && before != Enrolment::kNever) {
    return second_registration(name, before == Enrolment::kDone
                                         ? "was registered and is gone: it has been fenced"
                                         : "an attempt began and nobody knows how it ended");
  }
  return seen;
}

Result<LunState> register_here(Device& device, const std::string& name, Journal& journal,
                               ReservationKey key) {
  SYMNAS_ASSIGN(LunState seen, may_register(device, name, journal, key));
  const bool there = seen.has(key);
  if (!there) {
    SYMNAS_TRY(enroll(device, seen, journal, key));
    SYMNAS_ASSIGN(seen, look(device, name));
  } else if (journal.of(seen.identity) != Enrolment::kDone) {
    SYMNAS_TRY(journal.note(seen.identity, Enrolment::kDone));
  }
  seen.did = there ? "present" : "registered";
  SYMNAS_TRY(hold_reservation(device, seen, key));
  return seen;
}

Result<LunState> preempt_here(Device& device, const std::string& name, ReservationKey own,
                              ReservationKey victim) {
  SYMNAS_ASSIGN(LunState seen, look(device, name));
  Change change;
  for (int attempt = 0;; ++attempt) {
    // Without a reservation the LUN keeps nobody out, registered or not.
    SYMNAS_TRY(hold_reservation(device, seen, own));
    if (!seen.has(victim)) {
      if (seen.did == "preempted") return seen;
      return reset_here(device, seen, victim);
    }
    if (attempt == kPreemptTriesMax) break;
    change = device.preempt_and_abort(own, victim);
    SYMNAS_ASSIGN(LunState now, look(device, name));
    if (change.outcome == Outcome::kDone && !now.has(victim)) now.did = "preempted";
    seen = std::move(now);
  }
  return fail(ErrorCode::kConflict, fmt::format("{}: key {} is still there, or there again: {}",
                                                name, render_key(victim), change.what));
}

Result<LunState> may_unregister(Device& device, const std::string& name, ReservationKey own,
                                Last last) {
  SYMNAS_ASSIGN(LunState seen, look(device, name));
  if (!seen.has(own)) return seen;
  const bool alone = std::ranges::all_of(seen.registrations.keys,
                                         [own](ReservationKey key) { return key == own; });
  if (alone && last == Last::kRefuse) {
    return fail(ErrorCode::kBusy,
                fmt::format("{}: only we are registered: without us nobody is kept out any more, "
                            "not even fenced heads (--last does it all the same)",
                            name));
  }
  if (!alone && seen.reservation && seen.reservation->holder == own) {
    return fail(ErrorCode::kBusy,
                fmt::format("{}: we hold its reservation, which would end with our registration "
                            "(have another head preempt {})",
                            name, render_key(own)));
  }
  return seen;
}

Result<LunState> unregister_here(Device& device, const std::string& name, Journal& journal,
                                 ReservationKey own, Last last) {
  SYMNAS_ASSIGN(LunState seen, may_unregister(device, name, own, last));
  SYMNAS_TRY(journal.note(seen.identity, Enrolment::kWithdrawn));
  seen.did = "absent";
  if (!seen.has(own)) return seen;
  const Change change = device.withdraw(own);
  SYMNAS_ASSIGN(seen, look(device, name));
  seen.did = "unregistered";
  if (!seen.has(own)) return seen;
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: our key is still registered: {}", name, change.what));
}

Status judge(const LunState& seen, ReservationKey own, std::optional<ReservationKey> absent) {
  if (!seen.has(own)) return own_key_missing(seen.device, own);
  if (!seen.reservation) {
    return fail(ErrorCode::kConflict,
                fmt::format("{}: is not reserved: nobody is kept out", seen.device));
  }
  if (seen.reservation->type != kExclusiveAccessRegistrantsOnly) {
    return reserved_otherwise(seen.device, *seen.reservation);
  }
  if (absent && seen.has(*absent)) {
    return fail(ErrorCode::kConflict,
                fmt::format("{}: key {} is registered", seen.device, render_key(*absent)));
  }
  return {};
}

}  // namespace symnas::ha
