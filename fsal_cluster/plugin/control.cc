#include "fsal_cluster/plugin/control.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "common/base/log.h"

namespace symnas::plugin {
namespace {

constexpr std::size_t kLineBytesMax = 256;
// Connections that wait in the socket. Commands that take no time time out after a second and are
// asked again; a change of exports may take several seconds.
constexpr int kWaitingMax = 16;

UniqueFd listen_on(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) {
    errno = ENAMETOOLONG;
    return UniqueFd();
  }
  path.copy(name.sun_path, path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::unlink(path.c_str());
  // The socket is in a directory that only root can enter.
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(fd.get(), kWaitingMax) != 0) {
    return UniqueFd();
  }
  return fd;
}

}  // namespace

Control::Control(std::string path, Command command)
    : path_(std::move(path)), command_(std::move(command)), listener_(listen_on(path_)) {
  if (!listener_.valid()) {
    log::error("{}: {} (this instance cannot be moved without a crash)", path_,
               std::strerror(errno));
    return;
  }
  thread_ = std::thread([this] { run(); });
}

Control::~Control() {
  if (!thread_.joinable()) return;
  ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept()
  thread_.join();
}

void Control::run() {
  for (;;) {
    const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.valid()) {
      serve(connection.get());
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void Control::serve(int connection) {
  std::string line;
  while (line.size() <= kLineBytesMax) {
    char byte = 0;
    const ssize_t size = ::read(connection, &byte, 1);
    if (size < 0 && errno == EINTR) continue;
    if (size != 1) return;  // the peer has closed the connection
    if (byte != '\n') {
      line.push_back(byte);
      continue;
    }
    return command_(line, [connection](const nlohmann::json& said) {
      const std::string answer = said.dump() + '\n';
      (void)::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
    });
  }
}

}  // namespace symnas::plugin
