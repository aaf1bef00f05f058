// A process that was started by this vnfsd or by the one before it. Thread class:
// thread-compatible, move-only. Invariant: the pidfd is of the process that the record describes
// (pid and start time), never of a later one with the same pid. Sources: pidfd_open(2), proc(5)
// field 22 of /proc/PID/stat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace symnas::vnfsd::instance {

struct ProcessId {
  int pid = 0;
  std::uint64_t start_ticks = 0;  // since boot
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// Field 22 of a /proc/PID/stat text (the command name in field 2 may hold anything). Errors:
// kCorrupt.
Result<std::uint64_t> parse_start_ticks(std::string_view stat);
// Errors: kNotFound (no such process).
Result<std::uint64_t> start_ticks_of(int pid);
// The kernel's boot id (/proc/sys/kernel/random/boot_id).
Result<std::string> boot_id();

class Process {
 public:
  // Errors: kNotFound when the recorded process is gone (also when its pid belongs to another one
  // now).
  static Result<Process> adopt(ProcessId id);
  Process(ProcessId id, UniqueFd pidfd) : id_(id), pidfd_(std::move(pidfd)) {}

  const ProcessId& id() const { return id_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the process has ended
  // Its network namespace. Errors: kNotFound.
  Result<UniqueFd> network_namespace() const;
  // SIGKILL. No effect on a process that has ended.
  void kill() const;
  // Waits for its end, reaps it if it is our child, and says how it ended; nullopt after
  // timeout_ms.
  std::optional<std::string> wait(std::int64_t timeout_ms) const;

 private:
  ProcessId id_;
  UniqueFd pidfd_;
};

// What a wait status of our child means: "exit status 2", "signal 9 (Killed)".
std::string describe_exit(int code, int status);

}  // namespace symnas::vnfsd::instance
