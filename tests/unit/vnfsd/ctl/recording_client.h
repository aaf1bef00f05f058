// A client that answers everything alike and remembers what it was asked. For tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "vnfsd/api/client.h"

namespace symnas::vnfsd::ctl {

class RecordingClient final : public api::ApiClient {
 public:
  RecordingClient(std::vector<std::string>& asked, nlohmann::json answer)
      : ApiClient({"/s"}), asked_(asked), answer_(std::move(answer)) {}
  Result<nlohmann::json> request(const std::string& method, const std::string& path,
                                 const nlohmann::json&) override {
    asked_.push_back(method + " " + path);
    return answer_;
  }

 private:
  std::vector<std::string>& asked_;
  const nlohmann::json answer_;
};

}  // namespace symnas::vnfsd::ctl
