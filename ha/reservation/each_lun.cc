#include "ha/reservation/each_lun.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "ha/reservation/report.h"

namespace symnas::ha {
namespace {

using Clock = std::chrono::steady_clock;

struct Worker {
  pid_t pid = -1;
  UniqueFd answer;
  std::string text;
  bool ended = false;
};

[[noreturn]] void work(int answer, pid_t parent, const std::string& device, const LunStep& step) {
  // The worker ends with its parent: when the command is killed, no part of it goes on.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const std::string text = render_answer(step(device));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(answer, text.data() + done, text.size() - done);
    if (written <= 0 && errno != EINTR) ::_exit(1);
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

Result<Worker> start(const std::string& device, const LunStep& step) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: pipe: {}", device, strerror(errno)));
  }
  UniqueFd read(fds[0]);
  UniqueFd write(fds[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) work(write.get(), parent, device, step);
  if (pid < 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: fork: {}", device, strerror(errno)));
  }
  return Worker{pid, std::move(read), {}, false};
}

void take(Worker& worker) {
  char piece[4096];
  const ssize_t got = ::read(worker.answer.get(), piece, sizeof piece);
  if (got > 0) worker.text.append(piece, static_cast<std::size_t>(got));
  worker.ended = got == 0 || (got < 0 && errno != EINTR);
}

void follow(std::vector<Result<Worker>>& workers, Clock::time_point deadline) {
  for (;;) {
    std::vector<pollfd> entries;
    std::vector<Worker*> waiting;
    for (auto& worker : workers) {
      if (!worker || worker->ended) continue;
      entries.push_back({worker->answer.get(), POLLIN, 0});
      waiting.push_back(&*worker);
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (waiting.empty() || left <= 0) return;
    ::poll(entries.data(), entries.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].revents != 0) take(*waiting[i]);
    }
  }
}

Result<LunState> finish(Result<Worker>& worker, const std::string& device,
                        std::int64_t timeout_ms) {
  if (!worker) return tl::unexpected<Error>(worker.error());
  if (!worker->ended) {
    // We do not wait for it: it may block in the kernel for as long as the path hangs.
    ::kill(worker->pid, SIGKILL);
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: no answer within {} ms", device, timeout_ms));
  }
  ::waitpid(worker->pid, nullptr, 0);
  return parse_answer(worker->text, device);
}

}  // namespace

std::vector<Result<LunState>> on_each(const std::vector<std::string>& devices,
                                      std::int64_t timeout_ms, const LunStep& step) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  std::vector<Result<Worker>> workers;
  for (const std::string& device : devices) workers.push_back(start(device, step));
  follow(workers, deadline);
  std::vector<Result<LunState>> answers;
  for (std::size_t i = 0; i < devices.size(); ++i)
    answers.push_back(finish(workers[i], devices[i], timeout_ms));
  return answers;
}

}  // namespace symnas::ha
