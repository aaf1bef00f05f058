#include "ha/fencing/fence_agent.h"

#include <fmt/format.h>

#include "ha/fencing/limits.h"
#include "ha/fencing/run_program.h"

namespace symnas::ha {
namespace {

constexpr int kStatusOff = 2;

}  // namespace

Result<FenceAnswer> run_fence_agent(const FenceAgent& agent, FenceAction action,
                                    const std::string& plug) {
  ProgramCall call;
  call.name = "fence agent";
  call.program = agent.program;
  // `plug` and its older name.
  call.input = fmt::format("action={0}\nplug={1}\nport={1}\nnodename={1}\n",
                           action == FenceAction::kOff ? "off" : "status", plug);
  for (const std::string& option : agent.options) call.input += option + "\n";
  call.timeout_ms = agent.timeout_ms;
  call.output_bytes_max = kAgentOutputBytesMax;
  SYMNAS_ASSIGN(ProgramEnd end, run_program(call));
  return FenceAnswer{end.exit_status, std::move(end.output)};
}

Result<std::string> fence_off(const FenceAgent& agent, const std::string& plug) {
  SYMNAS_ASSIGN(const FenceAnswer off, run_fence_agent(agent, FenceAction::kOff, plug));
  if (off.exit_status != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("fence agent {}: off of {} failed with status {}: {}", agent.program,
                            plug, off.exit_status, last_line(off.output)));
  }
  SYMNAS_ASSIGN(const FenceAnswer status, run_fence_agent(agent, FenceAction::kStatus, plug));
  if (status.exit_status != kStatusOff) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("fence agent {}: said that {} is off, but its status is {}: {}",
                            agent.program, plug, status.exit_status, last_line(status.output)));
  }
  return fmt::format("agent {}: {}; status: off", agent.program, last_line(off.output));
}

}  // namespace symnas::ha
