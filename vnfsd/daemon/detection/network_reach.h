// NetworkReach: tells which networks this head reaches badly. Thread-safe.
#pragma once

#include <map>
#include <set>
#include <string>

namespace symnas::vnfsd::daemon {

class NetworkReach {
 public:
  virtual ~NetworkReach() = default;
  // The networks that this head reaches badly, by name, with the reason.
  virtual std::map<std::string, std::string> ill() const = 0;
  // Those of ill() that have been ill for long (Health::State::kWorse).
  virtual std::set<std::string> worse() const = 0;

  std::string why_ill(const std::string& network) const {  // "": the network is not ill
    const std::map<std::string, std::string> all = ill();
    const auto found = all.find(network);
    return found == all.end() ? "" : found->second;
  }
};

}  // namespace symnas::vnfsd::daemon
