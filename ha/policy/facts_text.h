// The planner's input and output as a person writes and reads them. Pure functions.
//
//   head c1n1 c1n2            serving; "settled" (serving for long), "draining" or "lost" as the
//   head c1n3 lost            last word: all of the line
//   vnfs v1 on c1n1,c1n2 owner c1n1 target c1n2
//   vnfs v2 on c1n2 stopped
//   vnfs v3 on c1n1,c1n2 blind c1n1
//   vnfs v4 on c1n1,c1n2 owner c1n2 auto pinned c1n2      fails back by itself, but not from c1n2
//   vnfs v5 on c1n1,c1n2,c1n3 owner c1n3 refused c1n1     c1n1 has not taken it lately
//   vnfs v6 on c1n1,c1n2 owner c1n1 ailing blind c1n1     c1n1 reaches its LUNs badly
//
// What is rendered of a plan: "v1 c1n2 ordered", "v2 - stopped".
#pragma once

#include <string>

#include "common/base/result.h"
#include "ha/policy/planner.h"

namespace symnas::ha {

// "#" begins a comment. Errors: kInvalidArgument (the message names the line).
Result<Facts> parse_facts(const std::string& text);
// A line per VNFS, by name.
std::string render(const std::map<std::string, Place>& places);

}  // namespace symnas::ha
