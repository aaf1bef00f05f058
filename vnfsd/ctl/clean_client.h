// CleanClient: an ApiClient whose answers hold nothing that a terminal would obey (safe_text.h).
// Names and messages come from the cluster: whoever may name a file or a client must not be able to
// write on an administrator's screen. Thread-compatible.
#pragma once

#include <string>

#include "vnfsd/api/client.h"
#include "vnfsd/ctl/safe_text.h"

namespace symnas::vnfsd::ctl {

class CleanClient final : public api::ApiClient {
 public:
  // `inner` lives longer.
  CleanClient(api::ApiClient& inner, Charset charset)
      : ApiClient({""}), inner_(inner), charset_(charset) {}

  void wait_at_most(int timeout_s) override { inner_.wait_at_most(timeout_s); }
  Result<nlohmann::json> request(const std::string& method, const std::string& path,
                                 const nlohmann::json& body) override;
  Status follow(const std::string& path, const api::TakeServerEvent& take) override;
  Result<std::string> text(const std::string& path) override;

 private:
  api::ApiClient& inner_;
  const Charset charset_;
};

}  // namespace symnas::vnfsd::ctl
