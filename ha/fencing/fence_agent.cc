#include "ha/fencing/fence_agent.h"

#include <algorithm>

#include <fmt/core.h>

#include "ha/fencing/limits.h"
#include "ha/fencing/run_program.h"

namespace symnas::ha {
namespace {

constexpr int kStatusOff = 2;

const char* word_of(FenceAction action) {
  switch (action) {
    case FenceAction::kOff: return "off";
    case FenceAction::kStatus: return "status";
    case FenceAction::kMonitor: return "monitor";
  }
  return "status";
}

}  // namespace

Result<FenceAnswer> run_fence_agent(const FenceAgent& agent, FenceAction action,
                                    const std::string& plug) {
  ProgramCall call;
  call.name = "fence agent";
  call.program = agent.program;
  call.input = fmt::format("action={}\n", word_of(action));
  // `plug` and its older names.
  if (!plug.empty()) call.input += fmt::format("plug={0}\nport={0}\nnodename={0}\n", plug);
  for (const std::string& option : agent.options) call.input += option + "\n";
  call.timeout_ms = agent.timeout_ms;
  call.stop_fd = agent.stop_fd;
  call.output_bytes_max = kAgentOutputBytesMax;
  SYMNAS_ASSIGN(ProgramEnd end, run_program(call));
  return FenceAnswer{end.exit_status, std::move(end.output)};
}

Result<std::string> order_off(const FenceAgent& agent, const std::string& plug) {
  SYMNAS_ASSIGN(const FenceAnswer off, run_fence_agent(agent, FenceAction::kOff, plug));
  if (off.exit_status != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("fence agent {}: off of {} failed with status {}: {}", agent.program,
                            plug, off.exit_status, last_line(off.output)));
  }
  return fmt::format("agent {}: {}", agent.program, last_line(off.output));
}

Result<std::string> fence_off(const FenceAgent& agent, const std::string& plug) {
  SYMNAS_ASSIGN(const std::string proof, order_off(agent, plug));
  SYMNAS_ASSIGN(const FenceAnswer status, run_fence_agent(agent, FenceAction::kStatus, plug));
  if (status.exit_status != kStatusOff) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("fence agent {}: said that {} is off, but its status is {}: {}",
                            agent.program, plug, status.exit_status, last_line(status.output)));
  }
  return proof + "; status: off";
}

Result<std::string> fence_confirmed(const FenceAgent& agent, const std::string& plug) {
  SYMNAS_ASSIGN(const FenceAnswer status, run_fence_agent(agent, FenceAction::kStatus, plug));
  if (status.exit_status == kStatusOff)
    return fmt::format("agent {}: {}", agent.program, last_line(status.output));
  return fail(ErrorCode::kUnavailable, fmt::format("fence agent {}: {} is not known to be off: {}",
                                                   agent.program, plug, last_line(status.output)));
}

Status check_fence_agent(const FenceAgent& agent, int stop_fd) {
  FenceAgent hurried = agent;
  hurried.timeout_ms = std::min(agent.timeout_ms, kAgentCheckMsMax);
  hurried.stop_fd = stop_fd;
  SYMNAS_ASSIGN(const FenceAnswer answer, run_fence_agent(hurried, FenceAction::kMonitor, ""));
  if (answer.exit_status == 0) return {};
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("fence agent {}: it could not cut off a head now (monitor ended with status "
                  "{}): {}",
                  agent.program, answer.exit_status, last_line(answer.output)));
}

}  // namespace symnas::ha
