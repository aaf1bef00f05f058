// What symnas-fence says: for programs as JSON, for people as lines; and what one of its processes
// tells the other. Pure functions. JSON: docs/formats/reservation.md.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "ha/reservation/registrations.h"

namespace symnas::ha {

// Exit statuses, as docs/man/symnas-fence.8 lists them.
enum class Verdict {
  kDone = 0,           // on every LUN; of preempt and verify: it is proven
  kNotDone = 1,        // not on every LUN: nothing is proven; repeat it
  kUsage = 2,          // the command itself is wrong
  kOwnKeyMissing = 3,  // this boot has been fenced, or never registered: stop
  kSecondTime = 4,     // this boot has registered before: reboot
  kConflict = 5,       // reserved in another way, not reserved, or a key that is there
};

// "": it can.
std::string why_cannot_fence(const Capabilities& can);

// The gravest of what happened: 3, then 4, 5, 1.
Verdict verdict_of(const std::vector<Result<LunState>>& luns);

struct Report {
  std::string command;
  std::string own;     // key, or empty
  std::string victim;  // likewise
  std::vector<std::string> devices;
  std::vector<Result<LunState>> luns;  // as many as devices
};

std::string render_json(const Report& report);
// A line per LUN and one with the verdict.
std::string render_text(const Report& report);

// Between the processes. parse_answer: kUnavailable if the other one died before it had said all.
std::string render_answer(const Result<LunState>& answer);
Result<LunState> parse_answer(const std::string& text, const std::string& device);

}  // namespace symnas::ha
