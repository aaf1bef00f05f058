// The nouns of symnas. Each function adds one noun with its verbs to the command line; the verb's
// callback runs the command and stores its outcome in `result`. Confined to the thread of
// run_symnas.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

#include "common/base/result.h"
#include "vnfsd/ctl/context.h"

namespace symnas::vnfsd::ctl {

// What a verb does once the options are known.
using Action = std::function<Status(Context&)>;

struct CommandLine {
  CLI::App& app;
  Action action;  // of the verb that was given
  bool dry_run = false;
};

void add_cluster(CommandLine& line);
void add_head(CommandLine& line);
void add_etcd(CommandLine& line);
void add_network(CommandLine& line);
void add_lun(CommandLine& line);
void add_volume(CommandLine& line);
void add_filesystem(CommandLine& line);
void add_export(CommandLine& line);
void add_vnfs(CommandLine& line);
void add_status(CommandLine& line);
void add_capacity(CommandLine& line);
// The verbs of vnfs that move one.
void add_vnfs_moves(CommandLine& line, CLI::App* noun);
// The verbs of fs that look into a filesystem.
void add_inspection(CommandLine& line, CLI::App* filesystem);

// A verb that changes something: also takes --dry-run.
CLI::App* add_change_verb(CommandLine& line, CLI::App* noun, const std::string& verb,
                          const std::string& what);
// A verb with a single NAME: DELETE of /v1/<collection>/<NAME>.
void add_remove_verb(CommandLine& line, CLI::App* noun, const std::string& verb,
                     const std::string& collection, const std::string& what);

}  // namespace symnas::vnfsd::ctl
