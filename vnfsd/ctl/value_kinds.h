// What a value of a command line is: for completion. Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace symnas::vnfsd::ctl {

// The kinds whose names the cluster has; each is the collection of the API that lists them.
const std::vector<std::string>& name_kinds();

// Of an option or positional of the command ("vnfs rehost"): "=auto manual" (these words), "files",
// one of name_kinds(), the same with "," at its end (a list of them), or "-" (nothing is known).
std::string value_kind(std::string_view command, const CLI::Option& option);

}  // namespace symnas::vnfsd::ctl
