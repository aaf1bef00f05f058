// FenceAgent: an external program that cuts a head off and says whether it did. Thread-safe:
// functions without state; they block.
//
// Protocol of the fence-agents project (FenceAgentAPI.md): options as "key=value" lines on stdin, a
// closing end of file, the verdict as exit status. off: 0 = it is off, and the agent has verified
// that. status: 0 = on, 2 = off, else unknown. monitor: 0 = it reaches what it needs. The last line
// on stdout says how, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::ha {

struct FenceAgent {
  std::string program;               // absolute path
  std::vector<std::string> options;  // "key=value", given to it with every action
  std::int64_t timeout_ms = 60'000;  // of one action
  int stop_fd = -1;                  // as ProgramCall::stop_fd
};

enum class FenceAction { kOff, kStatus, kMonitor };

struct FenceAnswer {
  int exit_status = 0;
  std::string output;  // the end of what it printed, on both channels
};

// Runs one action for the head called `plug`; "": for none. Errors: kNotFound (the program cannot
// be started), kUnavailable (it has not ended after timeout_ms and was killed, or a signal ended
// it), kInvalidArgument (too many options), kInternal.
Result<FenceAnswer> run_fence_agent(const FenceAgent& agent, FenceAction action,
                                    const std::string& plug);

// Off, and then the status must say off. Answers the proof, for the end records: "agent
// /usr/sbin/fence_x: <its last line>; status: off". Errors: as run_fence_agent, kUnavailable (the
// agent says that it failed, or that the head is not off): nothing is proved.
Result<std::string> fence_off(const FenceAgent& agent, const std::string& plug);

// Whether it could work, as far as the agent can tell without touching a head (monitor), within the
// time of an action and kAgentCheckMsMax. Whoever ends meanwhile makes stop_fd readable. Errors: as
// run_fence_agent, kUnavailable (it says no).
Status check_fence_agent(const FenceAgent& agent, int stop_fd);

}  // namespace symnas::ha
