// The tree of all commands, and what completion, manual pages and examples ask of it. Thread-safe:
// pure functions of a CLI::App.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace symnas::vnfsd::ctl {

// Those that --help shows, in their order.
std::vector<const CLI::App*> verbs_of(const CLI::App& app);

// Calls `visit` with every shown command and its path (" vnfs rehost"), nouns before their verbs,
// not with `root` itself.
void for_each_command(const CLI::App& root,
                      const std::function<void(const std::string& path, const CLI::App&)>& visit);

// The command of a path ("vnfs rehost"), or nullptr.
CLI::App* find_command(CLI::App& root, const std::string& path);

// Whether the option takes a value (else it is a flag).
bool takes_value(const CLI::Option& option);
// The words that it takes, if it takes no others; {} = any.
std::vector<std::string> words_of(const CLI::Option& option);

}  // namespace symnas::vnfsd::ctl
