// RemoteConfig: how `symnas` reaches a cluster over the network: ~/.config/symnas/remote.toml, and
// the options that have the same names. Thread-compatible value type.
// docs/operations/api_network.md.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd {

struct RemoteConfig {
  std::string url;         // https://HOST:PORT
  std::string cert;        // of this user, PEM
  std::string key;         // of it, PEM
  std::string ca;          // the API's authority, PEM
  std::string token_file;  // "-": standard input
};

// Errors: kInvalidArgument (syntax, an unknown key; the message says which).
Result<RemoteConfig> parse_remote(std::string_view text, std::string_view origin);
// Errors: as parse_remote(), kNotFound.
Result<RemoteConfig> load_remote(const std::string& path);

struct RemoteHost {
  std::string host;
  int port = 0;
};
// Errors: kInvalidArgument (not https://HOST or https://HOST:PORT).
Result<RemoteHost> parse_remote_url(const std::string& url);

}  // namespace symnas::vnfsd
