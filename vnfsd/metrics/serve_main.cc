// symnas-metrics: serves a head's page of metrics (Server). vnfsd starts it as root. It binds its
// port, then goes into the page's directory for good and gives all rights away. It ends with its
// standard input, which is vnfsd's end of a pipe.
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include <fmt/core.h>

#include "common/base/result.h"
#include "vnfsd/metrics/limits.h"
#include "vnfsd/metrics/server.h"

namespace symnas::vnfsd::metrics {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr uid_t kNobody = 65534;  // as Debian numbers it; names of users are not looked up

constexpr const char* kUsage =
    "usage: symnas-metrics --listen ADDRESS:PORT --directory DIR [--cert FILE --key FILE "
    "[--client-ca FILE]]\n";

// What this process can do afterwards: read the directory, and answer on the port.
Status give_up_rights(const std::string& directory) {
  const auto failed = [&](const char* what) {
    return fail(ErrorCode::kPermission, fmt::format("{}: {}", what, std::strerror(errno)));
  };
  const rlimit files = {kServerFilesMax, kServerFilesMax};
  const rlimit none = {0, 0};
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0 || ::setrlimit(RLIMIT_CORE, &none) != 0)
    return failed("setrlimit");
  if (::chroot(directory.c_str()) != 0 || ::chdir("/") != 0) return failed("chroot");
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0) {
    return failed("setresuid");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no_new_privs");
  if (::setresuid(0, 0, 0) == 0) return fail(ErrorCode::kPermission, "setresuid had no effect");
  return {};
}

// Until vnfsd has ended, however it does.
void wait_for_end_of_input() {
  char byte = 0;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

int report(const std::string& why) {
  fmt::print(stderr, "symnas-metrics: {}\n", why);
  return kExitFailed;
}

int run(std::map<std::string, std::string> said) {
  const auto listen = parse_listen_address(said["--listen"]);
  if (!listen) return report(listen.error().message);
  ::signal(SIGPIPE, SIG_IGN);
  const auto server = Server::listen({*listen, said["--cert"], said["--key"], said["--client-ca"]},
                                     [] { ::_exit(report("the server has ended")); });
  if (!server) return report(server.error().message);
  const Status given_up = give_up_rights(said["--directory"]);
  if (!given_up) return report(given_up.error().message);
  (*server)->start("/");
  wait_for_end_of_input();
  ::_exit(0);  // nobody needs what is being answered
}

}  // namespace
}  // namespace symnas::vnfsd::metrics

int main(int argc, char** argv) {
  using namespace symnas::vnfsd::metrics;
  ::close_range(STDERR_FILENO + 1, ~0U, 0);  // what the parent may have left open
  std::map<std::string, std::string> said;
  for (int i = 1; i + 1 < argc; i += 2) said[argv[i]] = argv[i + 1];
  if (argc % 2 == 0 || said["--listen"].empty() || said["--directory"].empty()) {
    fmt::print(stderr, "{}", kUsage);
    return kExitUsage;
  }
  return run(std::move(said));
}
