// ReservationProgram: symnas-fence as vnfsd calls it (docs/man/symnas-fence.8): an argument vector,
// no shell, a time-out. Thread-safe: functions without state; they block.
//
// Invariant: its exit status alone is no proof. What it says of each LUN must be about the LUNs
// that were named, each by its own identification, and say what the command promises.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::ha {

struct ReservationProgram {
  std::string program;               // absolute path of symnas-fence
  std::string journal_directory;     // docs/formats/reservation.md
  std::int64_t timeout_ms = 60'000;  // of one command: then it is killed
};

struct NamedLun {
  std::string identification;  // VPD page 83h, as symnas-fence says it: "naa.600..."
  std::string device;
};

// The identifications of those devices that have one, by device. Others (files, loop devices, what
// does not answer) are left out. Errors: those of run_program, kUnavailable (an odd answer).
Result<std::map<std::string, std::string>> identify_luns(const ReservationProgram& program,
                                                         const std::vector<std::string>& devices);

// Whether the LUN there keeps registrations through a power loss, and knows the type. Errors:
// kNotSupported (it does not), kUnavailable (no answer), those of run_program.
Status check_lun_can_fence(const ReservationProgram& program, const std::string& device);

// Registers this boot, `own` = "HEAD/BOOT-ID", on the LUNs; may be repeated. Errors: kPermission
// (this boot has been fenced, or nobody knows: it never registers again), kConflict (a LUN is
// reserved in another way), kUnavailable (not done on every LUN: repeat it), those of run_program.
// REQUIRES: at least one LUN.
Status register_boot(const ReservationProgram& program, const std::string& own,
                     const std::vector<NamedLun>& luns);

// Cuts another boot off from the LUNs; answers the proof, for the end records. Errors: kPermission
// (our own key is missing on a LUN: this boot has been fenced), kConflict, kUnavailable, those of
// run_program: nothing is proved. REQUIRES: at least one LUN.
Result<std::string> preempt_boot(const ReservationProgram& program, const std::string& own,
                                 const std::string& victim, const std::vector<NamedLun>& luns);

}  // namespace symnas::ha
