// Connection: a TCP client on loopback, as slow as a test wants it. Confined to one thread.
#pragma once

#include <string>

#include "common/base/unique_fd.h"

namespace symnas::vnfsd {

class Connection {
 public:
  // from: an address of 127.0.0.0/8. REQUIRES: something listens on that port of 127.0.0.1.
  explicit Connection(int port, const std::string& from = "127.0.0.1");
  // False: the peer has hung up.
  bool say(const std::string& text);
  // What comes until the peer hangs up, or until nothing has come for 5 s.
  std::string hear();
  // True if it hangs up within that time; what it says before is thrown away.
  bool hangs_up_within(int timeout_ms);

 private:
  UniqueFd fd_;
};

// A port of 127.0.0.1 that nothing has bound.
int free_port();

}  // namespace symnas::vnfsd
