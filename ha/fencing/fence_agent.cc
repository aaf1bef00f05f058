#include "ha/fencing/fence_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "common/base/unique_fd.h"
#include "ha/fencing/limits.h"

namespace symnas::ha {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStatusOff = 2;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    return fail(ErrorCode::kInternal, fmt::format("pipe: {}", std::strerror(errno)));
  }
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Starts it in a process group of its own, with no signal blocked or ignored.
Result<pid_t> start(const std::string& program, int input, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string name = program;
  char* const arguments[] = {name.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return pid;
  return fail(ErrorCode::kNotFound,
              fmt::format("fence agent {}: cannot be started: {}", program, std::strerror(error)));
}

// Appends what is there, keeps the end. False: the other side has closed.
bool drain(int fd, std::string& output) {
  char piece[1024];
  const ssize_t got = ::read(fd, piece, sizeof piece);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  output.append(piece, static_cast<std::size_t>(got));
  if (output.size() > kAgentOutputBytesMax) output.erase(0, output.size() - kAgentOutputBytesMax);
  return true;
}

// Reads until the process has ended or the deadline is over. Answers whether it has ended.
bool follow(int process, int output_fd, Clock::time_point deadline, std::string& output) {
  bool open = true;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entries[] = {{process, POLLIN, 0}, {open ? output_fd : -1, POLLIN, 0}};
    ::poll(entries, 2, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (open && entries[1].revents != 0) open = drain(output_fd, output);
    if (entries[0].revents == 0) continue;
    // What it has left behind in the pipe; its offspring may keep the other side open.
    ::fcntl(output_fd, F_SETFL, O_NONBLOCK);
    for (std::size_t before = std::string::npos; open && before != output.size();) {
      before = output.size();
      open = drain(output_fd, output);
    }
    return true;
  }
}

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

}  // namespace

Result<FenceAnswer> run_fence_agent(const FenceAgent& agent, FenceAction action,
                                    const std::string& plug) {
  // `plug` and its older name.
  std::string input = fmt::format("action={0}\nplug={1}\nport={1}\nnodename={1}\n",
                                  action == FenceAction::kOff ? "off" : "status", plug);
  for (const std::string& option : agent.options) input += option + "\n";
  if (input.size() > kAgentInputBytesMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("fence agent {}: options of {} bytes are too long", agent.program,
                            input.size()));
  }
  SYMNAS_ASSIGN(Pipe to_agent, make_pipe());
  SYMNAS_ASSIGN(Pipe from_agent, make_pipe());
  SYMNAS_ASSIGN(const pid_t pid, start(agent.program, to_agent.read.get(), from_agent.write.get()));
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  from_agent.write.reset();
  // It fits into the pipe. Our own reading end keeps the write from raising SIGPIPE.
  const ssize_t written = ::write(to_agent.write.get(), input.data(), input.size());
  to_agent.write.reset();
  to_agent.read.reset();

  FenceAnswer answer;
  const bool told = written == static_cast<ssize_t>(input.size()) && process.valid();
  const bool ended =
      told && follow(process.get(), from_agent.read.get(),
                     Clock::now() + std::chrono::milliseconds(agent.timeout_ms), answer.output);
  if (!ended) ::kill(-pid, SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  for (std::int64_t waited_ms = 0; reaped == 0 && waited_ms < kAgentReapMs; waited_ms += 10) {
    reaped = ::waitpid(pid, &status, WNOHANG);
    if (reaped == 0) ::usleep(10'000);
  }
  if (!ended) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("fence agent {}: no answer after {} ms: {}", agent.program,
                            agent.timeout_ms, last_line(answer.output)));
  }
  if (reaped != pid || !WIFEXITED(status)) {
    return fail(ErrorCode::kUnavailable, fmt::format("fence agent {}: was ended by a signal: {}",
                                                     agent.program, last_line(answer.output)));
  }
  answer.exit_status = WEXITSTATUS(status);
  return answer;
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
