// symnas-apid: the API over the network. Runs in the foreground as a user without privileges, logs
// to stderr; SIGTERM ends it. docs/man/symnas-apid.8.
#include <signal.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/version.h"
#include "vnfsd/api/form.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/apid/limits.h"
#include "vnfsd/apid/listener.h"

namespace symnas::vnfsd::apid {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr const char* kUsage =
    "usage: symnas-apid [--socket FILE] [--certificate FILE] [--key FILE]\n";

struct Options {
  std::string socket = "/run/symnas-api/api.sock";
  std::string certificate;
  std::string key;
};

// Waits up to ms for a signal to end. True: it came.
bool end_came(const sigset_t& signals, std::int64_t ms) {
  const timespec wait{ms / 1000, ms % 1000 * 1'000'000};
  return ::sigtimedwait(&signals, nullptr, &wait) > 0;
}

// What vnfsd wants; asks until it says so. nullopt: the end came first.
Result<std::optional<Terms>> ask_terms(const api::GateClient& vnfsd, const sigset_t& signals) {
  std::string told;
  for (;;) {
    HttpRequest request;
    request.method = "GET";
    request.target = api::kListenerPath;
    const HttpReply reply = vnfsd.ask(request, 10);
    if (reply.status == 200) {
      SYMNAS_ASSIGN(Terms terms, terms_from_json(reply.body));
      return std::optional(std::move(terms));
    }
    if (told != reply.body) log::warn("vnfsd: {}", reply.body);
    told = reply.body;
    if (end_came(signals, kAgainMs)) return std::nullopt;
  }
}

Status run(const Options& options) {
  // Before any thread exists, so that all of them leave these to sigwait below.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  log::init("symnas-apid", "info");
  if (::geteuid() == 0) {
    return fail(ErrorCode::kPermission,
                "must not run as root: it is what the network talks to (the unit runs it as "
                "symnas-api)");
  }
  const api::GateClient vnfsd(options.socket);
  SYMNAS_ASSIGN(const std::optional<Terms> terms, ask_terms(vnfsd, signals));
  if (!terms) return {};
  auto tls = TlsContext::load(options.certificate, options.key, terms->authority_pem, Deadlines{});
  if (!tls) {
    if (tls.error().code == ErrorCode::kNotFound)
      tls.error().message += " (symnas api on makes it)";
    return tl::unexpected<Error>(std::move(tls.error()));
  }
  Listener listener(**tls, vnfsd, *terms, env::system_clock());
  std::vector<std::unique_ptr<HttpServer>> servers;
  for (const std::string& address : terms->addresses) {
    HttpServerParts parts;
    parts.connect = [&listener](int fd) { return listener.connect(fd); };
    parts.check = [&listener](const HttpRequest& header) { return listener.check(header); };
    parts.answer = [&listener](const HttpRequest& request) { return listener.answer(request); };
    parts.refuse = api::not_understood;
    parts.failed = [address] {
      log::error("nothing listens on {} any more: starting again", address);
      ::_exit(kExitFailed);  // as its unit says
    };
    parts.threads = std::max<std::size_t>(terms->connections_max / terms->addresses.size(), 1);
    parts.waiting_max = kWaitingMax;
    parts.body_bytes_max = api::kRequestBytesMax;
    SYMNAS_ASSIGN(servers.emplace_back(),
                  HttpServer::on_address(address, terms->port, std::move(parts)));
  }
  for (const auto& server : servers) server->start();
  log::info("symnas-apid {}: API on {} port {}", kVersion, fmt::join(terms->addresses, ", "),
            terms->port);
  ::sd_notify(0, "READY=1");
  int signal = 0;
  ::sigwait(&signals, &signal);
  ::sd_notify(0, "STOPPING=1");
  return {};
}

}  // namespace
}  // namespace symnas::vnfsd::apid

int main(int argc, char** argv) {
  using namespace symnas::vnfsd;
  apid::Options options;
  if (const char* credentials = std::getenv("CREDENTIALS_DIRECTORY")) {
    options.certificate = std::string(credentials) + "/server.crt";
    options.key = std::string(credentials) + "/server.key";
  }
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    std::string* const into = argument == "--socket"        ? &options.socket
                              : argument == "--certificate" ? &options.certificate
                              : argument == "--key"         ? &options.key
                                                            : nullptr;
    if (into != nullptr && i + 1 < argc) {
      *into = argv[++i];
    } else if (argument == "--version") {
      fmt::print("symnas-apid {}\n", symnas::kVersion);
      return 0;
    } else {
      const bool help = argument == "--help";
      fmt::print(help ? stdout : stderr, "{}", apid::kUsage);
      return help ? 0 : apid::kExitUsage;
    }
  }
  if (const auto done = apid::run(options); !done) {
    fmt::print(stderr, "symnas-apid: {}\n", done.error().message);
    return apid::kExitFailed;
  }
  return 0;
}
