// What a shell completes after "symnas": made of the command line itself, so that it has every verb
// and option and no other. Pure.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace symnas::vnfsd::ctl {

// A script for "bash" or "zsh", to be installed as the shell's completion of `symnas`.
// REQUIRES: shell is one of these.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace symnas::vnfsd::ctl
