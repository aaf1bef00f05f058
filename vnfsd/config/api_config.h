// ApiConfig: [api] of vnfsd.toml, the API over the network. Thread-compatible value type.
// Settings and defaults: docs/operations/api_network.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace symnas::vnfsd {

inline constexpr std::uint16_t kApiPort = 20'492;         // TCP, beside the probes' port
inline constexpr std::size_t kApiAddressesMax = 8;        // each has threads of its own
inline constexpr std::int64_t kApiConnectionsMax = 1024;  // a thread each

struct ApiConfig {
  bool enabled = false;
  std::vector<std::string> listen;  // IP addresses; empty: the head's own address
  std::int64_t port = kApiPort;
  std::string user = "symnas-api";    // of symnas-apid: a name, or a uid
  std::string socket;                 // default: run_dir + "-api/api.sock"
  std::int64_t connections_max = 64;  // served at once
  std::int64_t requests_per_s = 20;   // of each address, and of each credential
  std::int64_t requests_burst = 60;
};

// Of the text of a vnfsd.toml; defaults where it has no [api]. `origin` names it in messages.
// Errors: kInvalidArgument (the message says which key).
Result<ApiConfig> parse_api_config(std::string_view text, std::string_view origin,
                                   const std::string& run_dir);
// Errors also: kNotFound.
Result<ApiConfig> load_api_config(const std::string& path, const std::string& run_dir);
// The section as text; "" where it is off: versions before it refuse a section that they do not
// know.
std::string render_api_config(const ApiConfig& config);

}  // namespace symnas::vnfsd
