#include "vnfsd/api/gate_server.h"

#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/api/form.h"
#include "vnfsd/api/gate_limits.h"
#include "vnfsd/api/limits.h"

namespace symnas::vnfsd::api {
namespace {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
};

Result<User> find_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  uid_t uid = 0;
  const char* const last = name.data() + name.size();
  const bool is_number = std::from_chars(name.data(), last, uid).ptr == last;
  if (is_number) {
    ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  } else {
    ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  }
  if (found == nullptr) {
    return fail(ErrorCode::kNotFound,
                fmt::format("[api] user {}: there is no such user (the package symnas makes "
                            "symnas-api)",
                            name));
  }
  return User{entry.pw_uid, entry.pw_gid};
}

tl::unexpected<Error> failed(const std::string& path, std::string_view what) {
  return fail(ErrorCode::kIo,
              fmt::format("API: {}: {} failed: {}", path, what, std::strerror(errno)));
}

// The folder is root's: nobody else can put another socket there.
Status make_folder(const std::string& socket, gid_t group) {
  const std::string folder = socket.substr(0, socket.rfind('/'));
  if (::mkdir(folder.c_str(), 0750) != 0 && errno != EEXIST) return failed(folder, "making it");
  if (::chown(folder.c_str(), 0, group) != 0 || ::chmod(folder.c_str(), 0750) != 0)
    return failed(folder, "setting its owner");
  return {};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> start_gate(const std::string& socket, const std::string& user,
                                               Gate& gate) {
  SYMNAS_ASSIGN(const User owner, find_user(user));
  SYMNAS_TRY(make_folder(socket, owner.gid));
  HttpServerParts parts;
  parts.threads = kGateThreads;
  parts.waiting_max = kGateWaitingMax;
  parts.body_bytes_max = kRequestBytesMax;
  parts.connect = [uid = owner.uid](int fd) -> std::unique_ptr<HttpConnection> {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        (peer.uid == uid || peer.uid == 0))
      return plain_connection(fd, Deadlines{});
    log::warn("API: a connection of another user than symnas-apid's was refused");
    return nullptr;
  };
  parts.check = refuse_form;
  parts.answer = [&gate](const HttpRequest& request) { return gate.answer(request); };
  parts.refuse = not_understood;
  parts.failed = [socket] {
    log::error("API: nothing listens on {} any more (restart vnfsd, which disturbs no instance)",
               socket);
  };
  ::unlink(socket.c_str());  // left by a vnfsd that is gone
  const mode_t old_mask = ::umask(0177);
  auto server = HttpServer::on_path(socket, std::move(parts));
  ::umask(old_mask);
  if (!server) {
    server.error().message = "API: " + server.error().message;
    return server;
  }
  if (::chown(socket.c_str(), 0, owner.gid) != 0 || ::chmod(socket.c_str(), 0660) != 0)
    return failed(socket, "setting its owner");
  (*server)->start();
  return server;
}

}  // namespace symnas::vnfsd::api
