// FenceAgent: an external program that cuts a head off and reports whether it did. Thread-safe:
// functions without state; they block.
//
// Protocol: github.com/ClusterLabs/fence-agents, doc/FenceAgentAPI.md. Options are "key=value"
// lines on stdin, closed by end of file; the verdict is the exit status. off: 0 = the head is off,
// and the agent has verified that. status: 0 = on, 2 = off, else unknown. monitor: 0 = the agent
// reaches what it needs. The last line on stdout explains the verdict, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::ha {

struct FenceAgent {
  std::string program;               // absolute path
  std::vector<std::string> options;  // "key=value", passed with every action
  std::int64_t timeout_ms = 60'000;  // of one action
  int stop_fd = -1;                  // as ProgramCall::stop_fd
};

enum class FenceAction { kOff, kStatus, kMonitor };

struct FenceAnswer {
  int exit_status = 0;
  std::string output;  // the end of what it printed on stdout and stderr
};

// Runs one action for the head called `plug`; "": for no head. Errors: kNotFound (the program
// cannot be started), kUnavailable (it had not ended after timeout_ms and was killed, or a signal
// ended it), kInvalidArgument (too many options), kInternal.
Result<FenceAnswer> run_fence_agent(const FenceAgent& agent, FenceAction action,
                                    const std::string& plug);

// Turns the head off; then its status must be off. Returns the proof, for the end records: "agent
// /usr/sbin/fence_x: <its last line>; status: off". Errors: as run_fence_agent, kUnavailable (the
// agent says that it failed, or that the head is not off): nothing is proved.
Result<std::string> fence_off(const FenceAgent& agent, const std::string& plug);

// Has the head turned off by an agent whose off is the proof: "agent /usr/lib/symnas/x: <its last
// line>". Errors: as run_fence_agent, kUnavailable (it says that it failed).
Result<std::string> order_off(const FenceAgent& agent, const std::string& plug);

// Whether the agent knows the head to be off already: its status. Returns the proof: "agent
// /usr/lib/symnas/x: <its last line>". Errors: as run_fence_agent, kUnavailable (it does not).
Result<std::string> fence_confirmed(const FenceAgent& agent, const std::string& plug);

// Whether the agent could work, as far as it can tell without touching a head (monitor), within the
// time of an action and kAgentCheckMsMax. A caller that has to end meanwhile makes stop_fd
// readable. Errors: as run_fence_agent, kUnavailable (the agent says no).
Status check_fence_agent(const FenceAgent& agent, int stop_fd);

}  // namespace symnas::ha
