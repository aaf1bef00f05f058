// --remote: the client that asks a head over the network. Confined to the thread of run_symnas.
#pragma once

#include <istream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "common/base/result.h"
#include "vnfsd/api/client.h"
#include "vnfsd/config/remote.h"

namespace symnas::vnfsd::ctl {

// Adds --remote, --cert, --key, --ca and --token-file.
void add_remote_options(CLI::App& app, RemoteConfig& given);

// The client for what was given, filled up from ~/.config/symnas/remote.toml. null: nothing was
// given, and this machine has a vnfsd at `socket` or no such file: the socket is asked.
// `standard_input`: for a token file "-". Errors: kInvalidArgument (something is missing),
// kNotFound (a file), kPermission (others may read the token's or the key's file).
Result<std::unique_ptr<api::ApiClient>> remote_client(RemoteConfig given, const std::string& socket,
                                                      bool socket_given,
                                                      std::istream& standard_input);

}  // namespace symnas::vnfsd::ctl
