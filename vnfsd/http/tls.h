// TLS of servers (the only place of vnfsd with libssl, but for clients). TLS 1.2 and later, no
// resumption: where certificates of clients are wanted, every connection shows its own.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "vnfsd/http/http_server.h"

namespace symnas::vnfsd {

// A connection whose client has shown a good certificate of the authority, if one is wanted; else
// fingerprint and serial are "". Confined to one thread.
class TlsConnection : public HttpConnection {
 public:
  virtual const std::string& address() const = 0;      // of the client
  virtual const std::string& fingerprint() const = 0;  // SHA-256 of its certificate, 64 hex digits
  virtual const std::string& serial() const = 0;       // of its certificate, hex digits
};

// What a listener shows, and whom it believes. Thread-safe.
class TlsContext {
 public:
  // certificate and key: files in PEM. authority_pem: certificates that sign those of clients; "":
  // clients need none. Errors: kNotFound (a file), kInvalidArgument (one that cannot be read, or
  // they do not belong together).
  static Result<std::unique_ptr<TlsContext>> load(const std::string& certificate,
                                                  const std::string& key,
                                                  const std::string& authority_pem,
                                                  const Deadlines& deadlines);
  ~TlsContext();

  // Shakes hands. Does not own the descriptor, which becomes non-blocking. Errors: kPermission (no
  // certificate, or not a good one), kIo (the peer speaks no TLS, went away, or is too slow);
  // messages have nothing that the peer chose. held: kept as long as the connection.
  Result<std::unique_ptr<TlsConnection>> accept(int fd, std::string address,
                                                std::shared_ptr<void> held) const;

 private:
  struct State;
  explicit TlsContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace symnas::vnfsd
