// LaunchSpec: what vnfsd tells symnas-launch, as JSON through a descriptor. Value type.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace symnas::vnfsd::instance {

// Descriptors that symnas-launch finds open.
inline constexpr int kSpecFd = 3;  // the JSON text, from its beginning
inline constexpr int kGoFd = 4;  // one byte arrives when the links are there; end of file: give up
inline constexpr int kStatusFd = 5;  // takes the reason of a failure; closed by a successful exec

struct LaunchSpec {
  std::string hostname;
  std::string stage;               // directory that becomes /run
  std::vector<std::string> keep;   // directories that stay visible if they lie below /run
  std::vector<std::string> links;  // to be set up; they have no address yet
  bool ipv6 = false;               // whether the namespace has IPv6
  std::string rpcbind;
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
  friend bool operator==(const LaunchSpec&, const LaunchSpec&) = default;
};

std::string render_launch_spec(const LaunchSpec& spec);
// Errors: kInvalidArgument.
Result<LaunchSpec> parse_launch_spec(const std::string& text);

}  // namespace symnas::vnfsd::instance
