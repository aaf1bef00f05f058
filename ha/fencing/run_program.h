// run_program: an external program with arguments (no shell), a time-out and bounded output.
// Thread-safe: a function without state; it blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::ha {

// kApart: stderr is kept separately from stdout.
enum class Channels { kTogether, kApart };

struct ProgramCall {
  std::string name;     // for messages: "fence agent"
  std::string program;  // absolute path
  std::vector<std::string> arguments;
  std::string input;  // its stdin, at most kProgramInputBytesMax
  std::int64_t timeout_ms = 60'000;
  Channels channels = Channels::kTogether;
  std::size_t output_bytes_max = 4096;  // of each channel; the end is kept
  int stop_fd = -1;                     // readable: the program is killed, as after timeout_ms
};

struct ProgramEnd {
  int exit_status = 0;
  std::string output;
  std::string errors;  // kApart
};

// Starts the program in a process group of its own, with no signal blocked. Errors: kNotFound (it
// cannot be started), kUnavailable (it had not ended after timeout_ms and its group was killed, or
// a signal ended it), kInvalidArgument (too much input), kInternal.
Result<ProgramEnd> run_program(const ProgramCall& call);

// The last line that the program printed, for messages and proofs; "no message" if there is none.
std::string last_line(std::string text);

}  // namespace symnas::ha
