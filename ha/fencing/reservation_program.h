// ReservationProgram: how vnfsd calls symnas-fence (docs/man/symnas-fence.8): an argument vector,
// no shell, a time-out. Thread-safe: functions without state; they block.
//
// Invariant: the exit status alone is no proof. What the program says of each LUN must be about the
// LUNs that were named, each by its own identification, and must be what the command promises.
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
  std::int64_t timeout_ms = 60'000;  // of one command; after it the program is killed
};

struct NamedLun {
  std::string identification;  // VPD page 83h, in the form of symnas-fence: "naa.600..."
  std::string device;
};

// The identifications of the devices that have one, by device. Devices without one (files, loop
// devices, devices that do not answer) are left out. Errors: those of run_program, kUnavailable (an
// answer that cannot be understood).
Result<std::map<std::string, std::string>> identify_luns(const ReservationProgram& program,
                                                         const std::vector<std::string>& devices);

// Whether that LUN keeps registrations through a power loss and knows the reservation type. Errors:
// kNotSupported (it does not), kUnavailable (no answer), those of run_program.
Status check_lun_can_fence(const ReservationProgram& program, const std::string& device);

// Registers this boot, `own` = "HEAD/BOOT-ID", on the LUNs; may be repeated. Errors: kPermission
// (this boot has been fenced, or nobody knows whether it was registered before: it never registers
// again), kConflict (a LUN is reserved in another way), kUnavailable (not done on every LUN: repeat
// it), those of run_program. REQUIRES: at least one LUN.
Status register_boot(const ReservationProgram& program, const std::string& own,
                     const std::vector<NamedLun>& luns);

// Cuts another boot off from the LUNs; returns the proof, for the end records. Errors: kPermission
// (our own key is missing on a LUN: this boot has been fenced), kConflict, kUnavailable, those of
// run_program: nothing is proved. REQUIRES: at least one LUN.
Result<std::string> preempt_boot(const ReservationProgram& program, const std::string& own,
                                 const std::string& victim, const std::vector<NamedLun>& luns);

}  // namespace symnas::ha
