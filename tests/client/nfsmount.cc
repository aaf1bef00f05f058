// nfsmount: mounts an NFS export with mount(2), as mount.nfs does for numeric addresses.
//
// usage: nfsmount [-o OPTION,...] ADDRESS:/PATH DIRECTORY
//
// Adds what the kernel's text interface (nfs(5), fs/nfs/fs_context.c) expects from user space:
// addr=, for version 4 clientaddr=, for version 3 proto, mountproto and, unless `lock` was asked
// for (guest_statd starts what that needs), nolock. The MOUNT port is looked up by the kernel
// through the server's rpcbind. Defaults: vers=4.1,proto=tcp,hard,port=2049.
// Exit status: 0 mounted, 1 refused (errno is printed), 2 usage.
#include <arpa/inet.h>
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

// The address this host would use to reach `server`: what the server may call back.
std::string own_address(const std::string& server) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(2049);
  if (inet_pton(AF_INET, server.c_str(), &to.sin_addr) != 1) return "";
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{};
  socklen_t length = sizeof from;
  const bool known = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&from), &length) == 0;
  close(fd);
  char text[INET_ADDRSTRLEN] = "";
  if (known) inet_ntop(AF_INET, &from.sin_addr, text, sizeof text);
  return text;
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
  const std::size_t colon = source.find(":/");
  if (colon == std::string::npos) return usage();
  const std::string server = source.substr(0, colon);

  unsigned long flags = 0;
  if (has_option(options, "ro")) flags |= MS_RDONLY;
  add_option(options, "vers=4.1");
  add_option(options, "proto=tcp");
  add_option(options, "port=2049");
  if (!has_option(options, "soft")) add_option(options, "hard");
  if (option_value(options, "vers") == "3") {
    add_option(options, "mountproto=tcp");
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
