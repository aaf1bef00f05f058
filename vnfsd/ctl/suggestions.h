// Suggestions: what was meant by a command, option or name that does not exist. Thread-compatible.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/base/result.h"
#include "vnfsd/api/client.h"

namespace symnas::vnfsd::ctl {

// "vnfs rehots: did you mean rehost?" of the first word that is no command or option; "" if all are
// known or nothing is near. `arguments`: as of run_symnas().
std::string meant_by(const CLI::App& root, const std::vector<std::string>& arguments);

// Adds to an error that names an object which does not exist the name that is near, if vnfsd tells
// it within a second.
Error with_near_name(Error error, api::ApiClient& client);

}  // namespace symnas::vnfsd::ctl
