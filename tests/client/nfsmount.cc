// nfsmount: mounts an NFS export with mount(2), as mount.nfs does for numeric addresses.
//
// usage: nfsmount [-o OPTION,...] ADDRESS:/PATH DIRECTORY    (an IPv6 address in brackets)
//
// Adds what the kernel's text interface (nfs(5), fs/nfs/fs_context.c) expects from user space:
// addr=; for version 4 clientaddr=; for version 3 proto, mountproto and nolock (unless `lock` is
// given: guest_statd starts what that needs). The kernel looks up the MOUNT port through the
// server's rpcbind. Defaults: vers=4.1,proto=tcp (IPv6: tcp6),hard,port=2049.
// Exit status: 0 mounted, 1 refused (errno is printed), 2 usage.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

bool has_option(const std::string& options, const std::string& name) {
  const std::string all = "," + options + ",";
  return all.find("," + name + ",") != std::string::npos ||
         all.find("," + name + "=") != std::string::npos;
}

std::string option_value(const std::string& options, const std::string& name) {
  const std::string all = "," + options + ",";
  const std::size_t at = all.find("," + name + "=");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 2;
  return all.substr(begin, all.find(',', begin) - begin);
}

void add_option(std::string& options, const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  if (has_option(options, name)) return;
  if (!options.empty()) options += ',';
  options += option;
}

bool is_ipv6(const std::string& address) { return address.find(':') != std::string::npos; }

// The address that this host uses to reach `server`, and to which the server may call back.
template <class Address>
std::string own_address(const std::string& server, int family, sa_family_t Address::*family_field,
                        in_port_t Address::*port, auto Address::*bytes) {
  Address to{};
  to.*family_field = static_cast<sa_family_t>(family);
  to.*port = htons(2049);
  if (inet_pton(family, server.c_str(), &(to.*bytes)) != 1) return "";
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  Address from{};
  socklen_t length = sizeof from;
  const bool known = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&from), &length) == 0;
  close(fd);
  char text[INET6_ADDRSTRLEN] = "";
  if (known) inet_ntop(family, &(from.*bytes), text, sizeof text);
  return text;
}

std::string own_address(const std::string& server) {
  return is_ipv6(server) ? own_address(server, AF_INET6, &sockaddr_in6::sin6_family,
                                       &sockaddr_in6::sin6_port, &sockaddr_in6::sin6_addr)
                         : own_address(server, AF_INET, &sockaddr_in::sin_family,
                                       &sockaddr_in::sin_port, &sockaddr_in::sin_addr);
}

// "10.0.0.1" of "10.0.0.1:/path", "fd00::1" of "[fd00::1]:/path"; "" for any other text.
std::string server_of(const std::string& source) {
  const std::size_t colon = source.find(":/");
  if (colon == std::string::npos) return "";
  const std::string server = source.substr(0, colon);
  if (server.size() > 2 && server.front() == '[' && server.back() == ']') {
    return server.substr(1, server.size() - 2);
  }
  return is_ipv6(server) ? "" : server;
}

int usage() {
  std::fprintf(stderr, "usage: nfsmount [-o OPTION,...] ADDRESS:/PATH DIRECTORY\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string options;
  int arg = 1;
  if (argc > 2 && std::strcmp(argv[1], "-o") == 0) {
    options = argv[2];
    arg = 3;
  }
  if (argc - arg != 2) return usage();
  const std::string source = argv[arg];
  const std::string server = server_of(source);
  if (server.empty()) return usage();
  const std::string tcp = is_ipv6(server) ? "tcp6" : "tcp";

  unsigned long flags = 0;
  if (has_option(options, "ro")) flags |= MS_RDONLY;
  add_option(options, "vers=4.1");
  add_option(options, "proto=" + tcp);
  add_option(options, "port=2049");
  if (!has_option(options, "soft")) add_option(options, "hard");
  if (option_value(options, "vers") == "3") {
    add_option(options, "mountproto=" + tcp);
    add_option(options, "mountvers=3");
    add_option(options, "mountaddr=" + server);
    if (!has_option(options, "lock")) add_option(options, "nolock");
  } else {
    add_option(options, "clientaddr=" + own_address(server));
  }
  add_option(options, "addr=" + server);

  if (mount(source.c_str(), argv[arg + 1], "nfs", flags, options.c_str()) == 0) return 0;
  std::fprintf(stderr, "nfsmount: %s on %s (%s): %s\n", source.c_str(), argv[arg + 1],
               options.c_str(), std::strerror(errno));
  return 1;
}
