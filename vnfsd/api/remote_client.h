// RemoteClient: asks a head over the network (symnas-apid). Thread-compatible.
#pragma once

#include <string>
#include <utility>

#include "vnfsd/api/client.h"

namespace symnas::vnfsd::api {

// Files in PEM.
struct RemoteOptions {
  std::string host;
  int port = 0;
  std::string certificate;  // of the client
  std::string key;
  std::string authority;  // who has no certificate of it is not believed to be the head
  std::string token;      // secret
};

class RemoteClient final : public ApiClient {
 public:
  explicit RemoteClient(RemoteOptions to) : ApiClient({}), to_(std::move(to)) {}

  // Errors: kShutdown (nobody answers, or whoever does is not believed), else what vnfsd answered.
  Result<nlohmann::json> request(const std::string& method, const std::string& path,
                                 const nlohmann::json& body) override;
  // Errors: as request().
  Status follow(const std::string& path, const TakeServerEvent& take) override;
  // Errors: kNotSupported: texts are on the head only.
  Result<std::string> text(const std::string& path) override;

 private:
  const RemoteOptions to_;
};

}  // namespace symnas::vnfsd::api
