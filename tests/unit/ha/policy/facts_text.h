// The planner's input and output as text that a person writes and reads. Pure functions.
//
//   head c1n1 c1n2            these heads serve. "settled" (has served for long), "draining" or
//   head c1n3 lost            "lost" as the last word applies to all heads of the line
//   vnfs v1 on c1n1,c1n2 owner c1n1 target c1n2
//   vnfs v2 on c1n2 stopped
//   vnfs v3 on c1n1,c1n2 blind c1n1
//   vnfs v4 on c1n1,c1n2 owner c1n2 auto pinned c1n2      fails back by itself, but not from c1n2
//   vnfs v5 on c1n1,c1n2,c1n3 owner c1n3 refused c1n1     c1n1 did not take it lately
//   vnfs v6 on c1n1,c1n2 owner c1n1 ailing blind c1n1     c1n1 reaches its LUNs badly
//
// A plan is rendered as lines: "v1 c1n2 ordered", "v2 - stopped".
#pragma once

#include <string>

#include "common/base/result.h"
#include "ha/policy/planner.h"

namespace symnas::ha {

// "#" starts a comment. Errors: kInvalidArgument (the message names the line).
Result<Facts> parse_facts(const std::string& text);
// One line per VNFS, ordered by name.
std::string render(const std::map<std::string, Assignment>& assignments);

}  // namespace symnas::ha
