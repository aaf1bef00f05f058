// What is done on one LUN: look, register, preempt, unregister, judge. Each step may be repeated,
// and of keys believes what the LUN shows afterwards, never what a command returned. That aborted
// commands have ended no LUN shows: of that the command's own success is believed, and nothing
// else. Thread-safe: functions without state of their own.
//
// Errors of all of them: kFenced (our own key is not there: this boot has been fenced, or never
// registered: stop), kConflict (the LUN is reserved in another way, or a key comes back), those of
// the Device. None of them proves anything.
#pragma once

#include <optional>
#include <string>

#include "ha/reservation/device.h"
#include "ha/reservation/journal.h"

namespace symnas::ha {

// Keys and reservation of one generation. Errors: kUnavailable (they change all the time).
Result<LunState> look(Device& device, const std::string& name);

// May this boot register here, as far as the LUN and the journal say? Changes nothing. Errors:
// kPermission (it has registered here before and the key is gone, or it gave it back, or it has
// registered here with another key: under another name its kernel may still have I/O under way),
// kNotSupported (the LUN forgets reservations at a power loss, or does not know the type).
Result<LunState> may_register(Device& device, const std::string& name, const Journal& journal,
                              ReservationKey key);

// Registers where that is still to be done, and reserves the LUN for all registrants if nobody has.
// did: "registered", or "present". Errors also: as may_register; kUnknownOutcome (it may happen
// later: the journal keeps the attempt).
Result<LunState> register_here(Device& device, const std::string& name, Journal& journal,
                               ReservationKey key);

// Removes the victim's key, and has its commands ended. did: "preempted" (our PREEMPT AND ABORT
// said that it was done), or "reset" (the key was not there, or is gone and we were not told how:
// a LOGICAL UNIT RESET was done instead, which aborts everybody's commands). Errors also:
// kUnavailable (the reset was not done either: commands of the victim may still be executed).
// REQUIRES: own != victim.
Result<LunState> preempt_here(Device& device, const std::string& name, ReservationKey own,
                              ReservationKey victim);

// May our registration be given back? Changes nothing. kBusy: we hold the reservation, which would
// end with it (have another head preempt our key), or nobody else is registered and `last` is
// unset.
enum class Last { kRefuse, kAllow };
Result<LunState> may_unregister(Device& device, const std::string& name, ReservationKey own,
                                Last last);

// Gives it back. did: "unregistered", or "absent". Errors also: as may_unregister.
Result<LunState> unregister_here(Device& device, const std::string& name, Journal& journal,
                                 ReservationKey own, Last last);

// Nothing if the LUN shows that `own` is registered, `absent` is not, and the LUN is reserved for
// its registrants; else why not (kFenced, kConflict).
Status judge(const LunState& seen, ReservationKey own, std::optional<ReservationKey> absent);

}  // namespace symnas::ha
