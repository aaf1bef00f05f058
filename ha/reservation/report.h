// The output of symnas-fence: JSON for programs, lines for people; and what one of its processes
// passes to the other. Pure functions. JSON: docs/formats/reservation.md.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "ha/reservation/registrations.h"

namespace symnas::ha {

// Exit statuses, as docs/man/symnas-fence.8 lists them.
enum class ExitStatus {
  kDone = 0,           // on every LUN; for preempt and verify: it is proven
  kNotDone = 1,        // not on every LUN: nothing is proven; repeat the command
  kUsage = 2,          // the command itself is wrong
  kOwnKeyMissing = 3,  // this boot has been fenced, or never registered: stop
  kSecondTime = 4,     // this boot has registered before: reboot
  kConflict = 5,       // reserved in another way, not reserved, or a key is not absent
};

// Why a LUN cannot fence; "": it can.
std::string why_cannot_fence(const Capabilities& can);

// The gravest status of all LUNs; from the gravest on: 3, 4, 5, 1.
ExitStatus exit_status_of(const std::vector<Result<LunState>>& luns);

struct Report {
  std::string command;
  std::string own;     // key, or empty
  std::string victim;  // as `own`
  std::vector<std::string> devices;
  std::vector<Result<LunState>> luns;  // as many as devices
};

std::string render_json(const Report& report);
// One line per LUN, and one with the verdict.
std::string render_text(const Report& report);

// An answer as one process passes it to the other. parse_answer: kUnavailable if the other process
// died before it had written all; kCorrupt, kInvalidArgument: it is none.
std::string render_answer(const Result<LunState>& answer);
Result<LunState> parse_answer(const std::string& text, const std::string& device);

}  // namespace symnas::ha
