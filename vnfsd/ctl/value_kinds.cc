#include "vnfsd/ctl/value_kinds.h"

#include <algorithm>
#include <map>

#include "vnfsd/ctl/command_tree.h"
#include "vnfsd/ctl/error_guide.h"

namespace symnas::vnfsd::ctl {
namespace {

using Kinds = std::map<std::string, std::string, std::less<>>;

// Options mean the same in every command, but for those of exceptions().
const Kinds& of_options() {
  static const Kinds kKinds = {{"--heads", "heads,"},        {"--head", "heads"},
                               {"--exports", "exports,"},    {"--vnfs", "vnfs"},
                               {"--fs", "filesystems"},      {"--volume", "volumes"},
                               {"--luns", "luns,"},          {"--network", "networks,"},
                               {"--access", "=rw ro"},       {"--squash", "=root none all"},
                               {"--manage-gids", "=on off"}, {"--by", "=pacemaker keepalived"},
                               {"--socket", "files"},        {"--out", "files"},
                               {"--bundle", "files"},        {"--report", "files"},
                               {"--config", "files"},        {"--config-dir", "files"},
                               {"--etcd-dir", "files"},      {"--run-dir", "files"},
                               {"--log-dir", "files"},       {"--ganesha-prefix", "files"},
                               {"--plugin-dir", "files"},    {"--lun-path", "files"},
                               {"--file", "files"},          {"--sec", "=sys krb5 krb5i krb5p,"},
                               {"--fence-agent", "files"},   {"--fence-options-file", "files"}};
  return kKinds;
}

// Positionals called NAME, by the noun of their command; those of HEAD, VNFS, PATH and FS.
const Kinds& of_positionals() {
  static const Kinds kKinds = {
      {"vnfs", "vnfs"},      {"head", "heads"}, {"export", "exports"},   {"volume", "volumes"},
      {"fs", "filesystems"}, {"lun", "luns"},   {"network", "networks"}, {"etcd", "members"},
      {"drill", "vnfs"},     {"HEAD", "heads"}, {"VNFS", "vnfs"},        {"PATH", "files"},
      {"FS", "filesystems"}};
  return kKinds;
}

// "COMMAND OPTION". New names are not completed.
const Kinds& exceptions() {
  static const Kinds kKinds = {{"vnfs create NAME", "-"},
                               {"vnfs create-set PREFIX", "-"},
                               {"head invite NAME", "-"},
                               {"export create NAME", "-"},
                               {"volume create NAME", "-"},
                               {"fs create NAME", "-"},
                               {"network create NAME", "-"},
                               {"fs dump PATH", "-"},
                               {"cluster init --head", "-"},
                               {"quickstart --network", "-"},
                               {"export add --vnfs", "vnfs,"},
                               {"export rm --vnfs", "vnfs,"},
                               {"oranfstab --vnfs", "vnfs,"},
                               {"lun import LUN", "files"},
                               {"lun scrub LUN", "luns"},
                               {"lun import --force", "-"},
                               {"ha decider NAME", "=builtin pacemaker keepalived"}};
  return kKinds;
}

std::string codes() {
  std::string words = "=";
  for (const CodeGuide& one : code_guides()) words += std::string(to_string(one.code)) + " ";
  for (const ExitGuide& one : exit_guides()) words += std::to_string(one.status) + " ";
  words.pop_back();
  return words;
}

std::string name_of(const CLI::Option& option) {
  return option.nonpositional() ? "--" + option.get_lnames().front() : option.get_name(true);
}

}  // namespace

const std::vector<std::string>& name_kinds() {
  static const std::vector<std::string> kKinds = {"vnfs",    "heads", "exports",  "filesystems",
                                                  "volumes", "luns",  "networks", "members"};
  return kKinds;
}

std::string value_kind(std::string_view command, const CLI::Option& option) {
  const std::string name = name_of(option);
  const std::string whole = std::string(command) + " " + name;
  if (const auto found = exceptions().find(whole); found != exceptions().end())
    return found->second;
  if (whole == "explain CODE") return codes();
  std::string words;
  for (const std::string& word : words_of(option)) words += (words.empty() ? "=" : " ") + word;
  if (!words.empty()) return words;
  const Kinds& kinds = option.nonpositional() ? of_options() : of_positionals();
  const std::string noun(command.substr(0, command.find(' ')));
  const auto found = kinds.find(name == "NAME" ? noun : name);
  return found == kinds.end() ? "-" : found->second;
}

}  // namespace symnas::vnfsd::ctl
