// The commands of symnas-fence over all LUNs: every phase is done on every LUN before the next
// phase begins. Confined to one thread.
//
// Nothing is changed on any LUN unless all of them answer and agree to the change: a head that
// reaches only some LUNs must not cut another head off from those.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ha/reservation/device.h"
#include "ha/reservation/each_lun.h"
#include "ha/reservation/limits.h"
#include "ha/reservation/lun_steps.h"
#include "ha/reservation/report.h"

namespace symnas::ha {

enum class Command { kRegister, kPreempt, kVerify, kKeys, kUnregister };

struct Request {
  Command command = Command::kKeys;
  std::vector<std::string> devices;  // at least one
  // By device: the identification that must be found there. It is checked before anything else is
  // sent.
  std::map<std::string, std::string> identities;
  ReservationKey own;
  std::optional<ReservationKey> victim;  // for preempt; for verify: the key that must be absent
  std::string journal_directory;         // for register and unregister
  Last last = Last::kRefuse;
  std::int64_t timeout_ms = kStepTimeoutMs;        // of each phase
  std::int64_t abort_timeout_ms = kStepTimeoutMs;  // of the phase that preempts
};

// How the commands reach the LUNs; tests put simulated arrays here.
struct Reach {
  std::function<Result<std::unique_ptr<Device>>(const std::string&)> open;
  std::function<std::vector<Result<LunState>>(const std::vector<std::string>&, std::int64_t,
                                              const LunStep&)>
      on_each;
  // Called before the LUN's preemption: a test can end the command there.
  std::function<void(const std::string& device)> about_to_preempt = [](const std::string&) {};
};

// REQUIRES: the fields that the command needs are set; own != victim.
Report run_command(const Request& request, const Reach& reach);

std::string_view to_string(Command command);

}  // namespace symnas::ha
