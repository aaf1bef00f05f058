#include "vnfsd/ctl/remote.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "vnfsd/api/remote_client.h"

namespace symnas::vnfsd::ctl {
namespace {

std::string default_path() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != '\0') return std::string(config) + "/symnas/remote.toml";
  const char* const home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.config/symnas/remote.toml";
}

Status check_private(const std::string& path, std::string_view what) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return fail(ErrorCode::kNotFound, fmt::format("{} {}: cannot be read", what, path));
  if ((found.st_mode & 077) == 0) return {};
  return fail(ErrorCode::kPermission,
              fmt::format("{} {}: others may read or write it (chmod 600)", what, path));
}

Result<std::string> read_token(const std::string& path, std::istream& standard_input) {
  std::string token;
  if (path == "-") {
    std::getline(standard_input, token);
  } else {
    SYMNAS_TRY(check_private(path, "token file"));
    std::ifstream file(path);
    std::getline(file, token);
  }
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (!token.empty() && token.find_first_of(" \t") == std::string::npos) return token;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("token file {}: its first line is no token", path));
}

void fill_up(RemoteConfig& given, const RemoteConfig& from) {
  const auto fill = [](std::string& into, const std::string& value) {
    if (into.empty()) into = value;
  };
  fill(given.url, from.url);
  fill(given.cert, from.cert);
  fill(given.key, from.key);
  fill(given.ca, from.ca);
  fill(given.token_file, from.token_file);
}

}  // namespace

void add_remote_options(CLI::App& app, RemoteConfig& given) {
  app.add_option("--remote", given.url, "https://HOST:PORT of a head, instead of the socket");
  app.add_option("--cert", given.cert, "With --remote: certificate of symnas api cert issue");
  app.add_option("--key", given.key, "With --remote: its key");
  app.add_option("--ca", given.ca, "With --remote: the API's authority");
  app.add_option("--token-file", given.token_file, "With --remote: file of a token; - is stdin");
}

Result<std::unique_ptr<api::ApiClient>> remote_client(RemoteConfig given, const std::string& socket,
                                                      bool socket_given,
                                                      std::istream& standard_input) {
  const std::string path = default_path();
  const bool has_file = !path.empty() && std::filesystem::exists(path);
  const bool is_asked = !given.url.empty() || !given.cert.empty() || !given.key.empty() ||
                        !given.ca.empty() || !given.token_file.empty();
  const bool is_head = socket_given || ::access(socket.c_str(), F_OK) == 0;
  if (!is_asked && (is_head || !has_file)) return nullptr;
  if (has_file) {
    SYMNAS_ASSIGN(const RemoteConfig from, load_remote(path));
    fill_up(given, from);
  }
  if (given.url.empty() || given.cert.empty() || given.key.empty() || given.ca.empty() ||
      given.token_file.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("remote: --remote, --cert, --key, --ca and --token-file are needed, "
                            "here or in {}",
                            path));
  }
  SYMNAS_ASSIGN(const RemoteHost host, parse_remote_url(given.url));
  SYMNAS_TRY(check_private(given.key, "key"));
  SYMNAS_ASSIGN(std::string token, read_token(given.token_file, standard_input));
  return std::make_unique<api::RemoteClient>(
      api::RemoteOptions{host.host, host.port, given.cert, given.key, given.ca, std::move(token)});
}

}  // namespace symnas::vnfsd::ctl
