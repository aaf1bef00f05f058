// symnas cluster, symnas head: the files of a head.
#include <iostream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/head_files.h"
#include "vnfsd/ctl/progress_bar.h"
#include "vnfsd/instance/files.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

// Two actions of an agent with the longest timeout_s, and the end records.
constexpr int kFenceAnswerS = 2 * 600 + 60;

struct Invitation {
  std::string name, address, file;
  bool etcd_member = false;
};

Status invite(Context& context, const Invitation& invitation) {
  const std::string query = context.mode == Mode::kDryRun ? "?dry_run=true" : "";
  SYMNAS_ASSIGN(const json document,
                context.client.request("POST", "/v1/heads" + query,
                                       {{"name", invitation.name},
                                        {"address", invitation.address},
                                        {"etcd_member", invitation.etcd_member}}));
  if (context.mode == Mode::kCommit) {
    const auto bundle = document.find("bundle");
    if (bundle == document.end()) {
      return fail(ErrorCode::kInternal,
                  fmt::format("head {}: vnfsd answered no bundle", invitation.name));
    }
    SYMNAS_TRY(instance::write_file_atomically(invitation.file, bundle->dump(2) + "\n", 0600));
  }
  context.print_done(document);
  return {};
}

// It cuts a machine off that may be serving: --yes says that this is meant.
Status fence_head(Context& context, const std::string& name, bool yes) {
  SYMNAS_TRY(check_path_name(name));
  if (!yes && context.mode == Mode::kCommit) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("head {}: fencing takes its power or its LUNs away while it may be "
                            "serving (add --yes if that is meant)",
                            name));
  }
  context.client.wait_at_most(kFenceAnswerS);
  const std::string path = "/v1/heads/" + name + "/fence";
  if (context.mode == Mode::kDryRun) return context.change("POST", path, json::object());
  SYMNAS_ASSIGN(const json document, request_long(context, path, json::object()));
  context.print_done(document);
  return {};
}

std::string draining_text(const json& head) { return head.value("draining", false) ? "yes" : "-"; }

std::string fence_text(const json& head) {
  return head.value("fence", json::object()).value("state", "-");
}

Status join(Context& context, const std::string& file, const HeadPlaces& given) {
  SYMNAS_ASSIGN(const std::string text, instance::read_file(file));
  SYMNAS_ASSIGN(const Bundle bundle, bundle_from_json(json::parse(text, nullptr, false)));
  SYMNAS_ASSIGN(const HeadPlaces places, with_fence_options(given, std::cin));
  SYMNAS_ASSIGN(const std::string what, join_cluster(bundle, places, context.mode));
  context.print_done(what);
  return {};
}

}  // namespace

void add_places(CLI::App* verb, HeadPlaces& places) {
  verb->add_option("--config-dir", places.config_dir, "Directory of the configuration")
      ->capture_default_str();
  verb->add_option("--etcd-dir", places.etcd_dir, "Directory of etcd's data")
      ->capture_default_str();
  verb->add_option("--run-dir", places.run_dir, "Directory of the socket and the instances' files")
      ->capture_default_str();
  verb->add_option("--log-dir", places.log_dir, "Directory of the instances' logs");
  verb->add_option("--ganesha-prefix", places.ganesha_prefix, "Prefix of the pinned ganesha");
  verb->add_option("--plugin-dir", places.plugin_dir, "Directory of libfsalcluster.so");
  verb->add_option("--lun-path", places.lun_paths,
                   "Glob, directory or file where LUNs are looked for (may be repeated)");
  verb->add_option("--probe-address", places.probe_addresses,
                   "Address of this head on a further network, where heads hear each other too "
                   "(may be repeated; the same networks in the same order on every head)")
      ->allow_extra_args(false);
  verb->add_flag("--fence-reservations", places.fence_reservations,
                 "Cut other heads off by persistent reservations of the LUNs");
  verb->add_option("--fence-agent", places.fence_agent, "Program that cuts other heads off");
  verb->add_option("--fence-option", places.fence_options,
                   "key=value for the fence agent (may be repeated); everybody sees it in the "
                   "list of processes")
      ->allow_extra_args(false);
  verb->add_option("--fence-options-file", places.fence_options_file,
                   "File of them, a line each; - is standard input: for passwords");
  verb->add_option("--fence-cuts", places.fence_cuts,
                   "What the agent cuts: power (nothing of the head runs afterwards), or its luns")
      ->check(CLI::IsMember({"power", "luns"}))
      ->capture_default_str();
  verb->add_flag("--fence-when-asked", places.fence_when_asked,
                 "Fence no head and end no instance without being asked");
}

void add_cluster(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("cluster", "The cluster itself")->require_subcommand(1);
  CLI::App* init =
      add_change_verb(line, noun, "init", "Make a new cluster: files of its first head");
  auto request = std::make_shared<ClusterInit>();
  init->add_option("--name", request->cluster, "Name of the cluster")->required();
  init->add_option("--head", request->head, "Name of this head")->required();
  init->add_option("--etcd-quota-bytes", request->quota_bytes, "Quota of etcd's database")
      ->capture_default_str();
  init->add_option("--address", request->address, "This head's management address")->required();
  add_places(init, request->places);
  add_raise_level(line, noun);
  init->callback([&line, request] {
    line.action = [request](Context& context) -> Status {
      ClusterInit filled = *request;
      SYMNAS_ASSIGN(filled.places, with_fence_options(request->places, std::cin));
      SYMNAS_ASSIGN(const std::string what, init_cluster(filled, context.mode));
      context.print_done(what);
      return {};
    };
  });
}

void add_head(CommandLine& line) {
  CLI::App* noun =
      line.app.add_subcommand("head", "The servers of the cluster")->require_subcommand(1);

  auto invitation = std::make_shared<Invitation>();
  CLI::App* verb = add_change_verb(line, noun, "invite", "Make the bundle for a further head");
  verb->add_option("NAME", invitation->name, "Name of the head")->required();
  verb->add_option("--address", invitation->address, "Its management address")->required();
  verb->add_option("--out", invitation->file, "File for the bundle; it holds a private key")
      ->required();
  verb->add_flag("--etcd-member", invitation->etcd_member,
                 "It becomes an etcd member too; 3 or 5 members are right");
  verb->callback([&line, invitation] {
    line.action = [invitation](Context& context) { return invite(context, *invitation); };
  });

  auto places = std::make_shared<HeadPlaces>();
  auto file = std::make_shared<std::string>();
  verb = add_change_verb(line, noun, "join", "Write this head's files from a bundle");
  verb->add_option("--bundle", *file, "The file of symnas head invite")->required();
  add_places(verb, *places);
  verb->callback([&line, file, places] {
    line.action = [file, places](Context& context) { return join(context, *file, *places); };
  });

  struct Fence {
    std::string name;
    bool yes = false;
  };
  auto fence = std::make_shared<Fence>();
  verb = add_change_verb(line, noun, "fence",
                         "Have the fence agent cut a head off, then end its mounts");
  verb->add_option("NAME", fence->name, "Name of the head; never this one")->required();
  verb->add_flag("--yes", fence->yes, "Yes, the head loses its power or its LUNs");
  verb->callback([&line, fence] {
    line.action = [fence](Context& context) {
      return fence_head(context, fence->name, fence->yes);
    };
  });

  auto removed = std::make_shared<Fence>();
  verb = add_change_verb(line, noun, "rm", "Remove a head that is drained or fenced");
  verb->add_option("NAME", removed->name, "Name of the head")->required();
  verb->add_flag("--yes", removed->yes, "Also take it off the heads of every VNFS");
  verb->callback([&line, removed] {
    line.action = [removed](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(removed->name));
      return context.change("DELETE", "/v1/heads/" + removed->name, {},
                            removed->yes ? "yes=true" : "");
    };
  });

  noun->add_subcommand("ls", "List the heads")->callback([&line] {
    line.action = [](Context& context) {
      return context.list(
          "heads", {plain("NAME", "name"), plain("ADDRESS", "address"), plain("VERSION", "version"),
                    plain("INCARNATION", "incarnation"), Column{"DRAINING", draining_text},
                    Column{"FENCE", fence_text}});
    };
  });
  add_drains(line, noun);
  add_head_upgrade(line, noun);
  add_head_check(line, noun);
}

void add_etcd(CommandLine& line) {
  CLI::App* noun =
      line.app.add_subcommand("etcd", "The members of the cluster's etcd")->require_subcommand(1);
  noun->add_subcommand("ls", "List them")->callback([&line] {
    line.action = [](Context& context) {
      return context.list("members",
                          {plain("NAME", "name"), plain("ROLE", "role"), plain("ID", "id"),
                           plain("PEER", "peer_url"), plain("CLIENT", "client_url")});
    };
  });
  add_remove_verb(line, noun, "rm", "members", "Remove a member that will not come back");
}

}  // namespace symnas::vnfsd::ctl
