#include "ha/detection/corosync/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"

namespace symnas::ha {
namespace {

constexpr std::size_t kErrorBytesMax = 1'000;  // of the program's stderr; the end is kept

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// Appends what can be read now. Returns false at the end.
bool read_piece(int fd, std::string& text) {
  char piece[4096];
  const ssize_t got = ::read(fd, piece, sizeof piece);
  if (got > 0) text.append(piece, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool is_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

CorosyncWatch::CorosyncWatch(std::string program, const env::Clock& clock,
                             const CorosyncWatchTimes& times)
    : program_(std::move(program)),
      clock_(clock),
      times_(times),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(end_.valid(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

CorosyncWatch::~CorosyncWatch() {
  ::eventfd_write(end_.get(), 1);
  thread_.join();
}

CorosyncSight CorosyncWatch::sight(const CorosyncWitness::Heads& heads) const {
  const MutexLock lock(mutex_);
  return witness_.sight(heads, now_ms());
}

void CorosyncWatch::run() {
  do {
    ended(listen());
  } while (!is_ending(times_.again_ms));
}

bool CorosyncWatch::is_ending(std::int64_t wait_ms) const {
  pollfd entry{end_.get(), POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(wait_ms)) > 0;
}

// The same reason again is not told again.
void CorosyncWatch::ended(const std::string& why) {
  if (std::exchange(last_told_, why) != why && !is_ending(0)) {
    log::warn("corosync: {}: it is no witness of silent heads now (tried again every {} s)", why,
              times_.again_ms / 1000);
  }
  const MutexLock lock(mutex_);
  witness_.ended(why);
}

std::string CorosyncWatch::listen() {
  auto output = make_pipe();
  auto errors = make_pipe();
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!output || !errors || !nothing.valid()) return "no pipe for symnas-corosync-watch";
  const auto pid = spawn(program_, {}, {nothing.get(), output->write.get(), errors->write.get()});
  if (!pid) return pid.error().message + " (apt-get install symnas-corosync)";
  output->write.reset();
  errors->write.reset();
  std::string why = read_lines(*output, *errors);
  ::kill(-*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) continue;
  return why;
}

std::string CorosyncWatch::read_lines(const Pipe& output, const Pipe& errors) {
  std::string text;
  std::string complaint;
  bool complains = true;
  for (;;) {
    pollfd entries[] = {{output.read.get(), POLLIN, 0},
                        {complains ? errors.read.get() : -1, POLLIN, 0},
                        {end_.get(), POLLIN, 0}};
    const int ready = ::poll(entries, 3, static_cast<int>(times_.stuck_ms));
    if (ready < 0) continue;  // EINTR
    if (ready == 0) return fmt::format("said nothing for {} s", times_.stuck_ms / 1000);
    if (entries[2].revents != 0) return "vnfsd ends";
    if (entries[1].revents != 0) complains = read_piece(errors.read.get(), complaint);
    if (complaint.size() > kErrorBytesMax) complaint.erase(0, complaint.size() - kErrorBytesMax);
    if (entries[0].revents == 0) continue;
    if (!read_piece(output.read.get(), text)) {
      while (complains && is_readable(errors.read.get()))
        complains = read_piece(errors.read.get(), complaint);
      const std::string said = last_line(complaint);
      return said.empty() ? "symnas-corosync-watch has ended" : said;
    }
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      const Status taken = take_line(std::string_view(text).substr(0, end));
      if (!taken) return "what symnas-corosync-watch says " + taken.error().message;
      text.erase(0, end + 1);
    }
    if (text.size() > kCorosyncLineBytesMax) return "symnas-corosync-watch says too much";
  }
}

Status CorosyncWatch::take_line(std::string_view line) {
  SYMNAS_ASSIGN(CorosyncMembership membership, parse_membership(line));
  if (!std::exchange(last_told_, "").empty()) log::info("corosync: answers");
  const MutexLock lock(mutex_);
  witness_.told(std::move(membership), now_ms());
  return {};
}

}  // namespace symnas::ha
