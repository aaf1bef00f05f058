// The nouns of symnas. Each function adds one noun with its verbs to the command line; the verb's
// callback runs the command and stores its outcome in `result`. Confined to the thread of
// run_symnas.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

#include "common/base/result.h"
#include "vnfsd/ctl/context.h"
#include "vnfsd/ctl/head_files.h"

namespace symnas::vnfsd::ctl {

// What a verb does once the options are known.
using Action = std::function<Status(Context&)>;

struct CommandLine {
  CLI::App& app;
  Action action;  // of the verb that was given
  bool dry_run = false;
};

// Adds all commands, with --watch and examples. In run.cc.
void add_commands(CommandLine& line);

void add_cluster(CommandLine& line);
void add_head(CommandLine& line);
void add_etcd(CommandLine& line);
void add_network(CommandLine& line);
void add_lun(CommandLine& line);
void add_volume(CommandLine& line);
void add_filesystem(CommandLine& line);
void add_export(CommandLine& line);
void add_vnfs(CommandLine& line);
void add_ha(CommandLine& line);
void add_lock(CommandLine& line);
void add_quota(CommandLine& line);
void add_status(CommandLine& line);
void add_capacity(CommandLine& line);
void add_events(CommandLine& line);
void add_job(CommandLine& line);
void add_drill(CommandLine& line);
void add_top(CommandLine& line);
void add_quickstart(CommandLine& line);
void add_oranfstab(CommandLine& line);
void add_support_bundle(CommandLine& line);
void add_explain(CommandLine& line);
// Hidden: what completion and packages call.
void add_complete_names(CommandLine& line);
void add_man(CommandLine& line);
// The verbs of `vnfs` that move VNFSs.
void add_vnfs_moves(CommandLine& line, CLI::App* noun);
// `vnfs restart`.
void add_vnfs_restart(CommandLine& line, CLI::App* noun);
// vnfs keytab.
void add_vnfs_keytab(CommandLine& line, CLI::App* noun);
// `head upgrade`.
void add_head_upgrade(CommandLine& line, CLI::App* noun);
// `head check`.
void add_head_check(CommandLine& line, CLI::App* noun);
// The options of `cluster init` and others that say where things go on this head.
void add_places(CLI::App* verb, HeadPlaces& places);
// `cluster raise-level`.
void add_raise_level(CommandLine& line, CLI::App* noun);
// The verbs of `vnfs` that show where all VNFSs are, and why one is on a head or not.
void add_vnfs_places(CommandLine& line, CLI::App* noun);
// The verbs of `head` that empty a head.
void add_drains(CommandLine& line, CLI::App* noun);
// The verbs of `vnfs` that make several VNFSs, or change one.
void add_vnfs_sets(CommandLine& line, CLI::App* noun);
// `ha pacemaker`.
void add_ha_pacemaker(CommandLine& line, CLI::App* noun);
// `ha keepalived`.
void add_ha_keepalived(CommandLine& line, CLI::App* noun);
// The verbs of `fs` that look into a filesystem.
void add_inspection(CommandLine& line, CLI::App* filesystem);

// Runs another command, as if its words had been given after "symnas". Errors: kInvalidArgument
// (they are no command), and those of the command.
Status run_words(Context& context, const std::vector<std::string>& words);

// How a verb waits for the VNFS that it has changed.
struct WaitOptions {
  std::string name;
  int timeout_s = 60;
  bool no_wait = false;
};
void add_wait(CLI::App* verb, WaitOptions& o);
// --failback auto|manual
CLI::Option* add_failback(CLI::App* verb, std::string& policy);
// Orders a VNFS to a head and waits until it is served there; prints nothing. Errors: as vnfs
// rehost.
Status move_to(Context& context, const std::string& name, const std::string& head,
               const nlohmann::json& body, int timeout_s);
// Waits until the VNFS is in the wanted state. Errors: kUnavailable after timeout_s, with what
// holds the VNFS up.
Status wait_for_state(Context& context, const std::string& name, const std::string& wanted,
                      int timeout_s);
// GET of /v1/<collection>: its array of objects. Errors: as ApiClient::request().
Result<nlohmann::json> rows_of(Context& context, const std::string& collection);
// The one of that name, or null.
nlohmann::json row_of(const nlohmann::json& rows, const std::string& name);
// Checks that the name can be a part of a path; vnfsd applies the rules of names. Errors:
// kInvalidArgument.
Status check_path_name(const std::string& name);

// A verb that changes something: also takes --dry-run.
CLI::App* add_change_verb(CommandLine& line, CLI::App* noun, const std::string& verb,
                          const std::string& what);
// The verb ls: GET of /v1/<collection>.
void add_list_verb(CommandLine& line, CLI::App* noun, const std::string& collection,
                   std::vector<Column> columns);
// A verb with a single NAME: DELETE of /v1/<collection>/<NAME>.
void add_remove_verb(CommandLine& line, CLI::App* noun, const std::string& verb,
                     const std::string& collection, const std::string& what);

}  // namespace symnas::vnfsd::ctl
