// The steps on one LUN: look, register, preempt, unregister, judge. Each step may be repeated.
// About keys a step believes what the LUN shows afterwards, never what a command returned. No LUN
// shows that aborted commands have ended: for that only the success of the aborting command itself
// is proof. Thread-safe: functions without state of their own.
//
// Errors of all of them: kFenced (our own key is not there: this boot has been fenced, or never
// registered: stop), kConflict (the LUN is reserved in another way, or a key comes back), those of
// the Device. After an error nothing is proved.
#pragma once

#include <optional>
#include <string>

#include "ha/reservation/device.h"
#include "ha/reservation/journal.h"

namespace symnas::ha {

// Reads keys and reservation of the same generation. Errors: kUnavailable (they change all the
// time).
Result<LunState> look(Device& device, const std::string& name);

// May this boot register here, as far as the LUN and the journal show? Changes nothing. Errors:
// kPermission (it has registered here before and the key is gone, or it gave the key back, or it
// has registered here with another key: under another name its kernel may still have I/O under
// way), kNotSupported (the LUN forgets reservations at a power loss, or does not know the type).
Result<LunState> may_register(Device& device, const std::string& name, const Journal& journal,
                              ReservationKey key);

// Registers if that is still to be done, and reserves the LUN for all registrants if nobody has.
// did: "registered", or "present". Errors also: as may_register; kUnknownOutcome (it may happen
// later: the journal keeps the attempt).
Result<LunState> register_here(Device& device, const std::string& name, Journal& journal,
                               ReservationKey key);

// Removes the victim's key, and makes sure that its commands have ended. did: "preempted" (our
// PREEMPT AND ABORT reported success), or "reset" (the key was not there, or it is gone without
// such a report: a LOGICAL UNIT RESET was done instead, which aborts everybody's commands). Errors
// also: kUnavailable (the reset failed too: commands of the victim may still be executed).
// REQUIRES: own != victim.
Result<LunState> preempt_here(Device& device, const std::string& name, ReservationKey own,
                              ReservationKey victim);

// May our registration be given back? Changes nothing. Errors also: kBusy (we hold the reservation,
// which would end with our registration: have another head preempt our key; or nobody else is
// registered and `last` is kRefuse).
enum class Last { kRefuse, kAllow };
Result<LunState> may_unregister(Device& device, const std::string& name, ReservationKey own,
                                Last last);

// Gives our registration back. did: "unregistered", or "absent". Errors also: as may_unregister.
Result<LunState> unregister_here(Device& device, const std::string& name, Journal& journal,
                                 ReservationKey own, Last last);

// Success if the LUN shows that `own` is registered, `absent` is not, and the LUN is reserved for
// its registrants; else the reason (kFenced, kConflict).
Status judge(const LunState& seen, ReservationKey own, std::optional<ReservationKey> absent);

}  // namespace symnas::ha
