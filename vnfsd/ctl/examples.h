// Examples of every command: the end of its --help, and of its entry in the manual page.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace symnas::vnfsd::ctl {

// Has each command show its examples. REQUIRES: the tree is complete.
void add_examples(CLI::App& root);

// The command lines below "Examples:" in the command's footer, without the "symnas" before them.
std::vector<std::string> examples_of(const CLI::App& command);

}  // namespace symnas::vnfsd::ctl
