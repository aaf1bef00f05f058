// Arbiter: a connection to tests/lab/arbiter.py, by which one owner of locks reports what it holds.
//
// Each line is answered by "ok ..."; any other answer ends the process. The words are those of the
// arbiter. Header only: the programs of the client VM are compiled one by one (vm_image.py).
// Thread class: confined to one process.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

namespace symnas::guest {

// The server has the lock still; this kernel has given it up by itself.
struct GivenUp : std::exception {};

class Arbiter {
 public:
  Arbiter(std::string name, const char* address, const char* port) : name_(std::move(name)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1) fail("no address");
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) fail("connect");
    tell("hello " + name_);
  }

  // Returns the words after "ok".
  std::string tell(const std::string& line) const {
    const std::string sent = line + "\n";
    if (write(socket_, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size()))
      fail("arbiter");
    std::string answer;
    for (char c = 0; read(socket_, &c, 1) == 1;) {
      if (c == '\n') {
        if (answer.rfind("ok", 0) == 0) return answer.size() > 3 ? answer.substr(3) : "";
        break;
      }
      answer += c;
    }
    // What led to it stays in the kernel's buffer, where there is one.
    write_to("/sys/kernel/tracing/tracing_on", "0");
    std::printf("%s %s: %s: %s\n", program_invocation_short_name, name_.c_str(), line.c_str(),
                answer.c_str());
    std::fflush(stdout);
    _exit(1);
  }

  // For a failure, with errno, that is not the fault of a lock.
  [[noreturn]] void fail(const std::string& what) const {
    std::printf("%s %s: %s: %s\n", program_invocation_short_name, name_.c_str(), what.c_str(),
                std::strerror(errno));
    std::fflush(stdout);
    _exit(1);
  }

  // The kernel reports that the lock is gone: EIO for everything that needs it
  // (fs/nfs/nfs4state.c). Throws GivenUp when the arbiter knows that the lock is not gone.
  [[noreturn]] void lost(const std::string& what) const {
    const std::string text = what + ": " + std::strerror(errno);
    write_to("/sys/kernel/tracing/trace_marker", name_ + ": " + what);
    tell("gone " + text);
    throw GivenUp();
  }

 private:
  static void write_to(const char* path, const std::string& text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, text.data(), text.size()) < 0) perror(path);
    close(fd);
  }

  std::string name_;
  int socket_ = -1;
};

}  // namespace symnas::guest
