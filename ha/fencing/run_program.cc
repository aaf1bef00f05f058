#include "ha/fencing/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

#include "common/base/spawn.h"
#include "ha/fencing/limits.h"

namespace symnas::ha {
namespace {

using Clock = std::chrono::steady_clock;

// Reads stdout or stderr of the program.
struct Channel {
  int fd = -1;
  std::string* text = nullptr;
  std::size_t bytes_max = 0;
  bool open = false;

  // Appends what can be read; keeps only the end.
  void drain() {
    char piece[4096];
    const ssize_t got = ::read(fd, piece, sizeof piece);
    open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    if (got <= 0) return;
    text->append(piece, static_cast<std::size_t>(got));
    if (text->size() > bytes_max) text->erase(0, text->size() - bytes_max);
  }
  // Reads what the ended program has left in the pipe; its children may keep the other end open.
  void drain_rest() {
    if (fd < 0) return;
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    for (;;) {
      pollfd entry{fd, POLLIN, 0};
      if (!open || ::poll(&entry, 1, 0) <= 0 || (entry.revents & POLLIN) == 0) return;
      drain();
    }
  }
};

// Reads until the process has ended, `stop` becomes readable, or the deadline is over. Returns
// whether the process has ended.
bool follow(int process, int stop, Channel& output, Channel& errors, Clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entries[] = {{process, POLLIN, 0},
                        {output.open ? output.fd : -1, POLLIN, 0},
                        {errors.open ? errors.fd : -1, POLLIN, 0},
                        {stop, POLLIN, 0}};
    ::poll(entries, 4, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (output.open && entries[1].revents != 0) output.drain();
    if (errors.open && entries[2].revents != 0) errors.drain();
    if (entries[0].revents == 0 && entries[3].revents != 0) return false;
    if (entries[0].revents == 0) continue;
    output.drain_rest();
    errors.drain_rest();
    return true;
  }
}

}  // namespace

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (const auto newline = text.rfind('\n'); newline != std::string::npos)
    text.erase(0, newline + 1);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (text.size() > kProofCharsMax) text.resize(kProofCharsMax);
  return text.empty() ? "no message" : text;
}

Result<ProgramEnd> run_program(const ProgramCall& call) {
  if (call.input.size() > kProgramInputBytesMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} {}: options of {} bytes are too long", call.name, call.program,
                            call.input.size()));
  }
  const bool apart = call.channels == Channels::kApart;
  SYMNAS_ASSIGN(Pipe input, make_pipe());
  SYMNAS_ASSIGN(Pipe output, make_pipe());
  Pipe errors;
  if (apart) {
    SYMNAS_ASSIGN(errors, make_pipe());
  }
  const auto started = spawn(
      call.program, call.arguments,
      {input.read.get(), output.write.get(), apart ? errors.write.get() : output.write.get()});
  if (!started) {
    return fail(started.error().code, fmt::format("{} {}", call.name, started.error().message));
  }
  const pid_t pid = *started;
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  output.write.reset();
  errors.write.reset();
  // The input fits into the pipe. We keep a reading end ourselves, so that the write raises no
  // SIGPIPE.
  const ssize_t written = ::write(input.write.get(), call.input.data(), call.input.size());
  input.write.reset();
  input.read.reset();

  ProgramEnd end;
  Channel out{output.read.get(), &end.output, call.output_bytes_max, true};
  Channel err{errors.read.get(), &end.errors, call.output_bytes_max, apart};
  const bool told = written == static_cast<ssize_t>(call.input.size()) && process.valid();
  const bool ended = told && follow(process.get(), call.stop_fd, out, err,
                                    Clock::now() + std::chrono::milliseconds(call.timeout_ms));
  if (!ended) ::kill(-pid, SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  for (std::int64_t waited_ms = 0; reaped == 0 && waited_ms < kProgramReapMs; waited_ms += 10) {
    reaped = ::waitpid(pid, &status, WNOHANG);
    if (reaped == 0) ::usleep(10'000);
  }
  const std::string said = last_line(apart && !end.errors.empty() ? end.errors : end.output);
  if (!ended) {
    return fail(ErrorCode::kUnavailable, fmt::format("{} {}: no answer after {} ms: {}", call.name,
                                                     call.program, call.timeout_ms, said));
  }
  if (reaped != pid || !WIFEXITED(status)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} {}: was ended by a signal: {}", call.name, call.program, said));
  }
  end.exit_status = WEXITSTATUS(status);
  return end;
}

}  // namespace symnas::ha
