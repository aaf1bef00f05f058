// ManPage: the manual pages of symnas in mdoc(7), made of the command line itself, so that they
// have every command and option and no other. Pure.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace symnas::vnfsd::ctl {

// The pages besides symnas(1): a noun or single command each ("vnfs"), in the order of --help.
std::vector<std::string> man_groups(const CLI::App& app);

// The page symnas-GROUP(1), or with "" the overview symnas(1). `date`: as mdoc's .Dd has it.
// REQUIRES: the group is one of man_groups().
std::string man_page(const CLI::App& app, const std::string& group, const std::string& date);

// "vnfs rehost NAME HEAD [--timeout N]": one line, without options of the line as a whole.
std::string synopsis_of(const CLI::App& command, const std::string& path);

}  // namespace symnas::vnfsd::ctl
