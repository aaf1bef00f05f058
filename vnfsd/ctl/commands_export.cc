// symnas export.
#include "vnfsd/ctl/commands.h"

#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct Options {
  std::string name, filesystem, anon, pseudo;
  std::string path = "/";
  std::string access = "rw";
  std::string squash = "root";
  std::string manage_gids = "off";
  std::vector<std::string> clients, rules, sec, vnfses;
  bool yes = false;
};

CLI::Option* add_words(CLI::App* verb, const char* option, std::vector<std::string>& into,
                       const char* what) {
  return verb->add_option(option, into, what)->delimiter(',')->allow_extra_args(false);
}

constexpr const char* kClients = "Networks or hosts, separated by commas, or '*'";
constexpr const char* kRule =
    "A client with options of its own, WHO:OPTIONS (repeatable): an address, network, host name, "
    "name with wildcards, @netgroup or '*', and options of exports(5)";
constexpr const char* kManageGids = "on or off: look up callers' groups here (more than 16)";
constexpr const char* kAnon = "UID:GID of squashed callers; without it nobody, 65534:65534";
constexpr const char* kSec =
    "How callers prove who they are, separated by commas, the preferred one first: sys, krb5, "
    "krb5i, krb5p";
constexpr const char* kPseudo = "Path that clients mount, if not /NAME";

// Each --client takes one word.
CLI::Option* add_rules(CLI::App* verb, std::vector<std::string>& into) {
  return verb->add_option("--client", into, kRule)->allow_extra_args(false);
}

void add_create(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "create", "Export a subtree of a filesystem");
  verb->add_option("NAME", o->name, "Name of the export: clients mount <VIP>:/NAME")->required();
  verb->add_option("--fs", o->filesystem, "The filesystem")->required();
  verb->add_option("--path", o->path, "Directory inside it")->capture_default_str();
  add_words(verb, "--clients", o->clients, kClients);
  add_rules(verb, o->rules);
  verb->add_option("--manage-gids", o->manage_gids, kManageGids)->capture_default_str();
  verb->add_option("--access", o->access, "rw or ro")->capture_default_str();
  verb->add_option("--squash", o->squash, "root, none or all")->capture_default_str();
  verb->add_option("--anon", o->anon, kAnon);
  verb->add_option("--pseudo", o->pseudo, kPseudo);
  add_words(verb, "--sec", o->sec, kSec);
  verb->callback([&line, o] {
    line.action = [o](Context& context) {
      return context.change("POST", "/v1/exports",
                            {{"name", o->name},
                             {"rules", o->rules},
                             {"manage_gids", o->manage_gids},
                             {"filesystem", o->filesystem},
                             {"path", o->path},
                             {"clients", o->clients},
                             {"access", o->access},
                             {"squash", o->squash},
                             {"anon", o->anon},
                             {"pseudo", o->pseudo},
                             {"sec", o->sec}});
    };
  });
}

void add_set(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "set", "Change an export, also while it is served");
  verb->add_option("NAME", o->name, "Name of the export")->required();
  struct Given {
    const char* member;
    CLI::Option* option;
  };
  const std::vector<Given> given = {
      {"clients", add_words(verb, "--clients", o->clients, kClients)},
      {"rules", add_rules(verb, o->rules)},
      {"manage_gids", verb->add_option("--manage-gids", o->manage_gids, kManageGids)},
      {"access", verb->add_option("--access", o->access, "rw or ro")},
      {"squash", verb->add_option("--squash", o->squash, "root, none or all")},
      {"anon", verb->add_option("--anon", o->anon, kAnon)},
      {"pseudo", verb->add_option("--pseudo", o->pseudo, kPseudo)},
      {"sec", add_words(verb, "--sec", o->sec, kSec)}};
  verb->callback([&line, o, given] {
    const json all = {{"clients", o->clients},         {"rules", o->rules},
                      {"manage_gids", o->manage_gids}, {"access", o->access},
                      {"squash", o->squash},           {"anon", o->anon},
                      {"pseudo", o->pseudo},           {"sec", o->sec}};
    json body = json::object();
    for (const Given& one : given) {
      if (one.option->count() != 0) body[one.member] = all[one.member];
    }
    line.action = [o, body](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(o->name));
      return context.change("POST", "/v1/exports/" + o->name + "/set", body);
    };
  });
}

void add_add(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<Options>();
  CLI::App* verb =
      add_change_verb(line, noun, "add", "Have more VNFSs serve an export, also running ones");
  verb->add_option("NAME", o->name, "Name of the export")->required();
  add_words(verb, "--vnfs", o->vnfses, "VNFSs, separated by commas")->required();
  verb->callback([&line, o] {
    line.action = [o](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(o->name));
      return context.change("POST", "/v1/exports/" + o->name + "/add", {{"vnfs", o->vnfses}});
    };
  });
}

void add_remove(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "rm", "Remove an export, or take it off VNFSs");
  verb->add_option("NAME", o->name, "Name of the export")->required();
  add_words(verb, "--vnfs", o->vnfses, "Only from these VNFSs, separated by commas");
  verb->add_flag("--yes", o->yes, "Also if clients use it, with their locks");
  verb->callback([&line, o] {
    line.action = [o](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(o->name));
      const std::string query = o->yes ? "yes=true" : "";
      const std::string path = "/v1/exports/" + o->name;
      if (o->vnfses.empty()) return context.change("DELETE", path, {}, query);
      return context.change("POST", path + "/take-off", {{"vnfs", o->vnfses}}, query);
    };
  });
}

}  // namespace

void add_export(CommandLine& line) {
  CLI::App* noun =
      line.app.add_subcommand("export", "What clients may mount, and how")->require_subcommand(1);
  add_create(line, noun);
  add_set(line, noun);
  add_add(line, noun);
  add_list_verb(line, noun, "exports",
                {plain("NAME", "name"), plain("ID", "export_id"), plain("FS", "filesystem"),
                 plain("PATH", "path"), plain("PSEUDO", "pseudo"), plain("ACCESS", "access"),
                 plain("SQUASH", "squash"), plain("ANON", "anon"), plain("CLIENTS", "clients"),
                 plain("SEC", "sec"), plain("VNFS", "vnfs")});
  add_remove(line, noun);
}

}  // namespace symnas::vnfsd::ctl
