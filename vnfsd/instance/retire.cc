#include "vnfsd/instance/retire.h"

#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "vnfsd/address/link.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {
namespace {

tl::unexpected<Error> failed(const std::string& control, std::string_view why) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", control, why));
}

Result<UniqueFd> connect_to(const std::string& control, std::int64_t timeout_ms) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (control.size() >= sizeof name.sun_path) return failed(control, "the path is too long");
  control.copy(name.sun_path, control.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval timeout{timeout_ms / 1000, timeout_ms % 1000 * 1000};
  if (!fd.valid() ||
      ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    return failed(control, std::strerror(errno));
  }
  return fd;
}

Result<std::string> ask(const std::string& control, const std::string& command,
                        std::int64_t timeout_ms) {
  SYMNAS_ASSIGN(const UniqueFd fd, connect_to(control, timeout_ms));
  const std::string line = command + '\n';
  if (::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size())) {
    return failed(control, std::strerror(errno));
  }
  std::string answer;
  char buffer[512];
  while (!answer.ends_with('\n')) {
    const ssize_t size = ::read(fd.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      return failed(control, fmt::format("no answer after {} ms", timeout_ms));
    }
    if (size <= 0) return failed(control, size < 0 ? std::strerror(errno) : "it ended");
    answer.append(buffer, static_cast<std::size_t>(size));
  }
  return answer;
}

}  // namespace

Result<Retired> retire(const std::string& control, std::int64_t timeout_ms) {
  SYMNAS_ASSIGN(const std::string answer,
                ask(control, fmt::format("retire {}", timeout_ms), timeout_ms + kRetireCloseMs));
  const auto document = nlohmann::json::parse(answer, nullptr, false);
  if (!document.is_object()) {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: answered {}", control, answer));
  }
  if (document.contains("error")) return failed(control, document["error"].get<std::string>());
  return Retired{document.value("requests_ms", std::int64_t{0}),
                 document.value("replies_ms", std::int64_t{0}),
                 document.value("close_ms", std::int64_t{0}),
                 document.value("kept", std::uint64_t{0}), document.value("unsent", "")};
}

std::vector<Connection> connections_of(const Process& process) {
  std::vector<Connection> all;
  for (const char* table : {"tcp", "tcp6"}) {
    const auto text = read_file(fmt::format("/proc/{}/net/{}", process.id().pid, table));
    if (!text) continue;
    for (const Connection& one : established(*text, kNfsPort)) all.push_back(one);
  }
  return all;
}

Status take_links_down(const Process& process) {
  SYMNAS_ASSIGN(const UniqueFd netns, process.network_namespace());
  return address::inside_netns(netns.get(), []() -> Status {
    const std::unique_ptr<struct if_nameindex[], void (*)(struct if_nameindex*)> links(
        ::if_nameindex(), ::if_freenameindex);
    if (!links) return fail(ErrorCode::kIo, fmt::format("links: {}", std::strerror(errno)));
    for (const struct if_nameindex* link = links.get(); link->if_index != 0; ++link) {
      if (std::string_view(link->if_name).starts_with(kLinkPrefix)) {
        SYMNAS_TRY(address::set_link_down(link->if_name));
      }
    }
    return {};
  });
}

}  // namespace symnas::vnfsd::instance
