// spawn: starts a program with arguments (no shell) and pipes for its standard channels.
// Thread-safe: functions without state.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace symnas {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
// Both ends are closed in programs that are started. Errors: kInternal.
Result<Pipe> make_pipe();

// The descriptors that a program gets as stdin, stdout and stderr.
struct StandardFds {
  int input = -1;
  int output = -1;
  int errors = -1;
};
// Starts the program (an absolute path) in a process group of its own, with no signal blocked and
// SIGPIPE as usual. Returns its pid: the caller waits for its end. Errors: kNotFound (it cannot be
// started; the message names it).
Result<pid_t> spawn(const std::string& program, const std::vector<std::string>& arguments,
                    const StandardFds& fds);

}  // namespace symnas
