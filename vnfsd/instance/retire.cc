#include "vnfsd/instance/retire.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/address/link.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/load.h"
#include "vnfsd/instance/numbers.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::size_t kHearBytes = 16 << 10;  // per read of an answer, which may be long

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
      ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0 ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    return failed(control, std::strerror(errno));
  }
  return fd;
}

// A connection with one command, whose answer is read line by line.
class Conversation {
 public:
  // Every line is waited for as long as timeout_ms. Errors: kUnavailable.
  static Result<Conversation> begin(const std::string& control, const std::string& command,
                                    std::int64_t timeout_ms) {
    SYMNAS_ASSIGN(UniqueFd fd, connect_to(control, timeout_ms));
    const std::string line = command + '\n';
    if (::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size())) {
      return failed(control, std::strerror(errno));
    }
    return Conversation(control, std::move(fd), timeout_ms);
  }

  // The next line. Errors: kUnavailable (none comes), those of answer_of().
  Result<nlohmann::json> hear() {
    std::size_t seen = 0;
    std::size_t end = std::string::npos;
    while ((end = heard_.find('\n', seen)) == std::string::npos) {
      seen = heard_.size();
      std::array<char, kHearBytes> more;
      const ssize_t size = ::read(fd_.get(), more.data(), more.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) {
        return failed(control_, fmt::format("no answer after {} ms", timeout_ms_));
      }
      if (size <= 0) return failed(control_, size < 0 ? std::strerror(errno) : "it ended");
      heard_.append(more.data(), static_cast<std::size_t>(size));
    }
    auto answer = answer_of(heard_.substr(0, end));
    heard_.erase(0, end + 1);
    if (!answer)
      return fail(answer.error().code, fmt::format("{}: {}", control_, answer.error().message));
    return answer;
  }

 private:
  Conversation(std::string control, UniqueFd fd, std::int64_t timeout_ms)
      : control_(std::move(control)), fd_(std::move(fd)), timeout_ms_(timeout_ms) {}

  std::string control_;
  UniqueFd fd_;
  std::int64_t timeout_ms_;
  std::string heard_;  // after the last line
};

Result<bool> ask_standby(const std::string& control, const std::string& command) {
  SYMNAS_ASSIGN(Conversation talk, Conversation::begin(control, command, kCallTimeoutMs));
  SYMNAS_ASSIGN(const auto document, talk.hear());
  return document.value("standby", false);
}

}  // namespace

Result<nlohmann::json> answer_of(const std::string& line) {
  auto document = nlohmann::json::parse(line, nullptr, false);
  if (!document.is_object()) return fail(ErrorCode::kCorrupt, "answered " + line);
  const auto error = document.find("error");
  if (error == document.end()) return document;
  return fail(ErrorCode::kInvalidArgument,
              error->is_string() ? error->get<std::string>() : error->dump());
}

Status wait_standing_by(const Process& process, const std::string& control,
                        std::int64_t timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const auto standing = stands_by(control);
    if (standing && *standing) return {};
    pollfd entry{process.pidfd(), POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(kListenPollMs)) == 1) {
      return fail(ErrorCode::kInternal, "it ended before it stood by");
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("it does not stand by after {} ms: {}", timeout_ms,
                              standing ? "it serves" : standing.error().message));
    }
  }
}

Result<bool> stands_by(const std::string& control) { return ask_standby(control, "standby"); }

Status serve(const std::string& control) {
  SYMNAS_TRY(ask_standby(control, "serve"));
  return {};
}

Status change_exports(const std::string& control) {
  SYMNAS_ASSIGN(Conversation talk, Conversation::begin(control, "exports", kExportsTimeoutMs));
  SYMNAS_TRY(talk.hear());
  return {};
}

Result<std::map<std::uint32_t, std::vector<std::string>>> export_clients(
    const std::string& control) {
  SYMNAS_ASSIGN(Conversation talk, Conversation::begin(control, "clients", kCallTimeoutMs));
  SYMNAS_ASSIGN(const auto document, talk.hear());
  std::map<std::uint32_t, std::vector<std::string>> out;
  for (const auto& one : document.value("exports", nlohmann::json::array())) {
    out[one.value("id", 0U)] = one.value("clients", std::vector<std::string>{});
  }
  return out;
}

Result<fs::LoadReport> load_of(const std::string& control) {
  SYMNAS_ASSIGN(Conversation talk, Conversation::begin(control, "load", kCallTimeoutMs));
  const auto document = talk.hear();
  if (document) return fs::parse_load(*document);
  if (document.error().code != ErrorCode::kInvalidArgument)
    return tl::unexpected<Error>(document.error());
  return fail(ErrorCode::kNotSupported,
              "its instance is of an earlier version, which does not count (symnas head upgrade)");
}

Result<InstanceNumbers> numbers_of(const std::string& control) {
  SYMNAS_ASSIGN(Conversation talk, Conversation::begin(control, "metrics", kCallTimeoutMs));
  SYMNAS_ASSIGN(const auto document, talk.hear());
  return parse_numbers(document);
}

Result<std::int64_t> retire(const std::string& control, std::int64_t timeout_ms,
                            const std::function<void(const Drained&)>& drained) {
  SYMNAS_ASSIGN(Conversation talk,
                Conversation::begin(control, fmt::format("retire {}", timeout_ms),
                                    timeout_ms + kRetireCloseMs));
  SYMNAS_ASSIGN(const auto answered, talk.hear());
  drained({answered.value("requests_ms", std::int64_t{0}),
           answered.value("replies_ms", std::int64_t{0}), answered.value("kept", std::uint64_t{0}),
           answered.value("unsent", ""),
           answered.value("connections", std::vector<std::string>{})});
  SYMNAS_ASSIGN(const auto closed, talk.hear());
  return closed.value("close_ms", std::int64_t{0});
}

namespace {

Status read_connections(const std::string& process, std::vector<Connection>& all) {
  for (const char* table : {"tcp", "tcp6"}) {
    if (!std::filesystem::exists(fmt::format("/proc/self/net/{}", table))) continue;  // no IPv6
    const auto text = read_file(fmt::format("/proc/{}/net/{}", process, table));
    if (!text) return tl::unexpected<Error>(text.error());
    for (const Connection& one : established(*text, kNfsPort)) {
      if (one.local.address != one.remote.address) all.push_back(one);  // of this head's own calls
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Connection>> connections_of(int pid) {
  std::vector<Connection> all;
  SYMNAS_TRY(read_connections(fmt::to_string(pid), all));
  return all;
}

Result<std::uint64_t> accepted_by(int pid) {
  const std::string path = fmt::format("/proc/{}/net/snmp", pid);
  SYMNAS_ASSIGN(const std::string text, read_file(path));
  const auto accepted = passive_opens(text);
  if (!accepted) return fail(ErrorCode::kCorrupt, fmt::format("{}: no PassiveOpens", path));
  return *accepted;
}

std::vector<Connection> connections_in(int netns_fd) {
  std::vector<Connection> all;
  const Status read =
      address::inside_netns(netns_fd, [&all] { return read_connections("thread-self", all); });
  if (!read) log::warn("{}", read.error().message);
  return all;
}

Status remove_vips(int netns_fd) {
  return address::inside_netns(netns_fd,
                               [] { return address::remove_addresses(std::string(kLinkPrefix)); });
}

void delete_vip_links(int netns_fd) {
  const Status deleted = address::inside_netns(
      netns_fd, [] { return address::delete_links(std::string(kLinkPrefix)); });
  if (!deleted) log::warn("{}", deleted.error().message);
}

}  // namespace symnas::vnfsd::instance
