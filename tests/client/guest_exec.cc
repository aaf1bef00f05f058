// guest_exec: runs scripts inside the client VM for a program on the host.
//
// One process serves one port: of virtio-serial, or a serial line. A port carries one job at a
// time, so a host program owns a port while its job runs. The channel does not use the guest's
// network: jobs can be started, watched and killed while that is broken.
//
// Frame, both ways (tests/client/README.md): magic "SYMF", type, job id and payload length (u32,
// little endian), payload.
//   host -> guest   'R' run the payload with /bin/sh    'K' kill the job    'P' ping
//   guest -> host   'O' output (stdout and stderr)      'X' exit status, u32    'H' answer to 'P'
// A job ends when its shell ends, even if its background processes still hold the output. When the
// host hangs up, its job is killed: no job runs unwatched. A serial line never hangs up; its next
// job kills the one that was left.
//
// Confined to one thread.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr char kMagic[4] = {'S', 'Y', 'M', 'F'};
constexpr std::size_t kHeaderBytes = 13;
constexpr std::uint32_t kMaxScriptBytes = 16u << 20;  // a script, not a file transfer
constexpr std::size_t kOutputChunkBytes = 32768;
constexpr int kHangupPollMs = 50;  // a port without a host polls as hung up at once: do not spin
// A host that connects again at once seems to be gone for a moment, even after its first bytes have
// been read: the kernel takes the news of ports and their data from different queues.
constexpr int kHangupSureMs = 300;
constexpr int kHangupNapMs = 10;

std::uint32_t load_u32(const char* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

class JobServer {
 public:
  JobServer(int port_fd, int signal_fd, std::string script_path)
      : port_(port_fd), signals_(signal_fd), script_path_(std::move(script_path)) {}

  [[noreturn]] void serve();

 private:
  void send(char type, std::uint32_t id, const char* data, std::size_t length);
  void on_input(const char* data, std::size_t length);
  void on_frame(char type, std::uint32_t id, const std::string& payload);
  void start(std::uint32_t id, const std::string& script);
  void kill_job();
  bool host_has_gone() const;
  void hang_up();
  void forward_output();
  void reap();

  int port_;
  int signals_;
  std::string script_path_;
  std::string input_;
  pid_t job_ = -1;
  std::uint32_t job_id_ = 0;
  int output_ = -1;
  bool host_gone_ = true;
};

// Sends one frame. Gives up silently when the host has hung up, which poll() reports next.
void JobServer::send(char type, std::uint32_t id, const char* data, std::size_t length) {
  std::string frame(kMagic, sizeof kMagic);
  frame += type;
  const auto length32 = static_cast<std::uint32_t>(length);
  frame.append(reinterpret_cast<const char*>(&id), sizeof id);
  frame.append(reinterpret_cast<const char*>(&length32), sizeof length32);
  frame.append(data, length);
  std::size_t done = 0;
  while (done < frame.size()) {
    const ssize_t n = write(port_, frame.data() + done, frame.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR) return;
    pollfd p{port_, POLLOUT, 0};
    poll(&p, 1, kHangupPollMs);
    if ((p.revents & POLLHUP) && host_has_gone()) return;
  }
}

// Whether the port stays hung up.
bool JobServer::host_has_gone() const {
  pollfd p{port_, POLLOUT, 0};
  for (int waited_ms = 0; waited_ms < kHangupSureMs; waited_ms += kHangupNapMs) {
    usleep(kHangupNapMs * 1000);
    p.revents = 0;
    if (poll(&p, 1, 0) >= 0 && !(p.revents & POLLHUP)) return false;
  }
  return true;
}

void JobServer::on_input(const char* data, std::size_t length) {
  input_.append(data, length);
  for (;;) {
    const std::size_t at = input_.find(kMagic, 0, sizeof kMagic);
    if (at == std::string::npos) return;  // at most a broken frame of an earlier host
    if (at > 0) input_.erase(0, at);
    if (input_.size() < kHeaderBytes) return;
    const std::uint32_t payload_length = load_u32(input_.data() + 9);
    if (payload_length > kMaxScriptBytes) {
      input_.erase(0, sizeof kMagic);
      continue;
    }
    if (input_.size() < kHeaderBytes + payload_length) return;
    const char type = input_[4];
    const std::uint32_t id = load_u32(input_.data() + 5);
    const std::string payload = input_.substr(kHeaderBytes, payload_length);
    input_.erase(0, kHeaderBytes + payload_length);
    on_frame(type, id, payload);
  }
}

void JobServer::on_frame(char type, std::uint32_t id, const std::string& payload) {
  if (type == 'P') {
    send('H', id, nullptr, 0);
  } else if (type == 'R') {
    kill_job();
    start(id, payload);
  } else if (type == 'K' && job_ > 0 && id == job_id_) {
    kill(-job_, SIGKILL);
  }
}

void JobServer::start(std::uint32_t id, const std::string& script) {
  const int file = open(script_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, script.data(), script.size()) != ssize_t(script.size())) {
    std::fprintf(stderr, "guest_exec: cannot store the script: %s\n", std::strerror(errno));
  }
  if (file >= 0) close(file);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  job_id_ = id;
  job_ = fork();
  if (job_ == 0) {
    setsid();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    execl("/bin/sh", "sh", script_path_.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  output_ = ends[0];
}

// Kills the running job, if any, without a report: its host is gone or has started another job.
void JobServer::kill_job() {
  if (job_ > 0) kill(-job_, SIGKILL);
  job_ = -1;
  if (output_ >= 0) close(output_);
  output_ = -1;
}

void JobServer::hang_up() {
  if (host_gone_) {
    usleep(kHangupPollMs * 1000);
    return;
  }
  if (!host_has_gone()) return;
  host_gone_ = true;
  kill_job();
  input_.clear();
}

void JobServer::forward_output() {
  static char buffer[kOutputChunkBytes];
  const ssize_t n = read(output_, buffer, sizeof buffer);
  if (n > 0) {
    send('O', job_id_, buffer, static_cast<std::size_t>(n));
  } else if (n == 0) {
    close(output_);
    output_ = -1;
  }
}

void JobServer::reap() {
  signalfd_siginfo drained;
  while (read(signals_, &drained, sizeof drained) > 0) {
  }
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != job_) continue;
    static char buffer[kOutputChunkBytes];
    ssize_t n = 0;
    while (output_ >= 0 && (n = read(output_, buffer, sizeof buffer)) > 0) {
      send('O', job_id_, buffer, static_cast<std::size_t>(n));
    }
    const std::uint32_t code =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128u + std::uint32_t(WTERMSIG(status));
    send('X', job_id_, reinterpret_cast<const char*>(&code), sizeof code);
    job_ = -1;
    if (output_ >= 0) close(output_);
    output_ = -1;
  }
}

void JobServer::serve() {
  static char buffer[kOutputChunkBytes];
  for (;;) {
    pollfd p[3] = {{port_, POLLIN, 0}, {signals_, POLLIN, 0}, {output_, POLLIN, 0}};
    if (poll(p, output_ >= 0 ? 3 : 2, -1) < 0) continue;
    if (p[1].revents & POLLIN) reap();
    if (output_ >= 0 && (p[2].revents & (POLLIN | POLLHUP))) forward_output();
    if (p[0].revents & POLLIN) {
      const ssize_t n = read(port_, buffer, sizeof buffer);
      if (n > 0) {
        host_gone_ = false;
        on_input(buffer, static_cast<std::size_t>(n));
        continue;
      }
    }
    if (p[0].revents & POLLHUP) hang_up();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: guest_exec PORT SCRIPT-FILE\n");
    return 2;
  }
  const int port = open(argv[1], O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (port < 0) {
    std::fprintf(stderr, "guest_exec: %s: %s\n", argv[1], std::strerror(errno));
    return 1;
  }
  // A serial line passes bytes on as they are; a port of virtio-serial does, and is no terminal.
  termios line;
  if (tcgetattr(port, &line) == 0) {
    cfmakeraw(&line);
    tcsetattr(port, TCSANOW, &line);
  }
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const int signals = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
  JobServer(port, signals, argv[2]).serve();
}
