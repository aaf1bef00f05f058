#include "vnfsd/config/remote.h"

#include <charconv>
#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "vnfsd/config/api_config.h"

namespace symnas::vnfsd {

Result<RemoteConfig> parse_remote(std::string_view text, std::string_view origin) {
  const auto bad = [&](std::string_view key, std::string_view why) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}: {}", origin, key, why));
  };
  try {
    RemoteConfig config;
    for (const auto& [key, value] : toml::parse(text)) {
      std::string* const into = key == "url"          ? &config.url
                                : key == "cert"       ? &config.cert
                                : key == "key"        ? &config.key
                                : key == "ca"         ? &config.ca
                                : key == "token_file" ? &config.token_file
                                                      : nullptr;
      if (into == nullptr) return bad(key.str(), "is not a known setting");
      const auto given = value.value_exact<std::string>();
      if (!given) return bad(key.str(), "must be a string");
      *into = *given;
    }
    return config;
  } catch (const toml::parse_error& error) {
    return bad(fmt::format("line {}", error.source().begin.line), error.description());
  }
}

Result<RemoteConfig> load_remote(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kNotFound, fmt::format("{}: cannot be read", path));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_remote(text.str(), path);
}

Result<RemoteHost> parse_remote_url(const std::string& url) {
  constexpr std::string_view kScheme = "https://";
  const auto bad = fail(ErrorCode::kInvalidArgument,
                        fmt::format("remote '{}': must be https://HOST or https://HOST:PORT", url));
  if (!url.starts_with(kScheme)) return bad;
  std::string rest = url.substr(kScheme.size());
  if (rest.ends_with('/')) rest.pop_back();
  if (rest.find_first_of("/?#@") != std::string::npos) return bad;
  RemoteHost out{"", kApiPort};
  const std::size_t bracket = rest.find(']');
  const std::size_t colon = rest.find(':', bracket == std::string::npos ? 0 : bracket);
  out.host = rest.substr(0, colon);
  if (out.host.starts_with('[') && bracket != std::string::npos)
    out.host = out.host.substr(1, bracket - 1);
  if (colon != std::string::npos) {
    const std::string port = rest.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error != std::errc{} || end != port.data() + port.size() || out.port < 1 ||
        out.port > 65'535)
      return bad;
  }
  if (out.host.empty()) return bad;
  return out;
}

}  // namespace symnas::vnfsd
