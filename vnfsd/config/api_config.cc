#include "vnfsd/config/api_config.h"

#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "vnfsd/config/table_reader.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd {

Result<ApiConfig> parse_api_config(std::string_view text, std::string_view origin,
                                   const std::string& run_dir) {
  try {
    const toml::table root = toml::parse(text);
    TableReader api(root, origin, "api");
    ApiConfig config;
    config.socket = run_dir + "-api/api.sock";
    api.flag("enabled", config.enabled);
    api.texts("listen", config.listen);
    for (const std::string& address : config.listen) {
      if (!IpAddress::parse(address)) api.error("listen", "must be a list of IP addresses");
    }
    if (config.listen.size() > kApiAddressesMax)
      api.error("listen", fmt::format("at most {} addresses", kApiAddressesMax));
    api.number("port", 1, 65'535, config.port);
    api.text("user", config.user);
    if (config.user.empty()) api.error("user", "must be a user's name or uid");
    api.absolute_path("socket", config.socket);
    api.number("connections_max", 1, kApiConnectionsMax, config.connections_max);
    api.number("requests_per_s", 1, 10'000, config.requests_per_s);
    api.number("requests_burst", 1, 100'000, config.requests_burst);
    SYMNAS_TRY(api.finish());
    return config;
  } catch (const toml::parse_error& error) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: line {}: {}", origin, error.source().begin.line, error.description()));
  }
}

Result<ApiConfig> load_api_config(const std::string& path, const std::string& run_dir) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kNotFound, fmt::format("{}: cannot be read", path));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_api_config(text.str(), path, run_dir);
}

std::string render_api_config(const ApiConfig& config) {
  if (!config.enabled) return "";
  toml::array listen;
  for (const std::string& address : config.listen) listen.push_back(address);
  std::ostringstream out;
  out << "[api]\n"
      << toml::table{{"enabled", config.enabled},
                     {"listen", listen},
                     {"port", config.port},
                     {"user", config.user},
                     {"socket", config.socket},
                     {"connections_max", config.connections_max},
                     {"requests_per_s", config.requests_per_s},
                     {"requests_burst", config.requests_burst}}
      << "\n\n";
  return out.str();
}

}  // namespace symnas::vnfsd
