// From which address of this host the connections that libnfs makes go out. libnfs has no call for
// it: it binds each socket to a port of its own choice and to any address. This program therefore
// defines bind() and connect() itself (the linker lets libnfs find them here): while a LocalBind
// exists on a thread, bind() puts that address in, and connect() refuses if that failed, because
// libnfs would go on from any other address. Confined to its thread.
#pragma once

#include <sys/socket.h>

#include <string>

#include "common/base/result.h"

namespace symnas::dnfs {

struct LocalAddress {
  sockaddr_storage address{};
  socklen_t bytes = 0;  // 0: the kernel chooses
  bool dontroute = false;

  // An address or a name of this host; "" lets the kernel choose.
  // Errors: kInvalidArgument: no such name, or no address of this host.
  static Result<LocalAddress> resolve(const std::string& text, bool dontroute);
};

class LocalBind {
 public:
  explicit LocalBind(const LocalAddress& address);
  ~LocalBind();
  LocalBind(const LocalBind&) = delete;
  LocalBind& operator=(const LocalBind&) = delete;
};

}  // namespace symnas::dnfs
