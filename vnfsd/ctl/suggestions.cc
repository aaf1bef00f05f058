#include "vnfsd/ctl/suggestions.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/command_tree.h"
#include "vnfsd/ctl/near.h"

namespace symnas::vnfsd::ctl {
namespace {

constexpr int kNamesWaitS = 1;

// The option of that name ("--heads"), of the command or of those above it.
const CLI::Option* option_of(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent())
    if (const CLI::Option* option = command->get_option_no_throw(name)) return option;
  return nullptr;
}

std::string near_option(const CLI::App* command, const std::string& name) {
  std::vector<std::string> known;
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options())
      for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  }
  return nearest(name, known);
}

std::string near_verb(const CLI::App& command, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::App* verb : verbs_of(command)) known.push_back(verb->get_name());
  return nearest(word, known);
}

std::string question(const std::string& word, const std::string& meant) {
  return meant.empty() ? "" : fmt::format("{}: did you mean {}?", word, meant);
}

}  // namespace

std::string meant_by(const CLI::App& root, const std::vector<std::string>& arguments) {
  const CLI::App* command = &root;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (word.size() > 1 && word[0] == '-') {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* option = option_of(command, name);
      if (option == nullptr) return question(name, near_option(command, name));
      if (takes_value(*option) && option->get_items_expected_min() > 0 && name == word) ++i;
      continue;
    }
    const auto verbs = command->get_subcommands([](const CLI::App*) { return true; });
    if (verbs.empty()) continue;
    const auto known =
        std::ranges::find_if(verbs, [&](const CLI::App* verb) { return verb->get_name() == word; });
    if (known == verbs.end()) return question(word, near_verb(*command, word));
    command = *known;
  }
  return "";
}

Error with_near_name(Error error, api::ApiClient& client) {
  if (error.code != ErrorCode::kNotFound) return error;
  // "vnfs vnfs9: does not exist (...)", as no_such_object() of vnfsd says it.
  static const std::map<std::string, std::string> kCollections = {
      {"vnfs", "vnfs"},      {"head", "heads"}, {"export", "exports"},  {"volume", "volumes"},
      {"fs", "filesystems"}, {"lun", "luns"},   {"network", "networks"}};
  const std::size_t blank = error.message.find(' ');
  const std::size_t end = error.message.find(": does not exist");
  if (end == std::string::npos || blank >= end) return error;
  const auto collection = kCollections.find(error.message.substr(0, blank));
  if (collection == kCollections.end()) return error;
  const std::string name = error.message.substr(blank + 1, end - blank - 1);
  client.wait_at_most(kNamesWaitS);
  const auto listed = client.request("GET", "/v1/" + collection->second, {});
  if (!listed) return error;
  std::vector<std::string> names;
  for (const nlohmann::json& row : listed->value(collection->second, nlohmann::json::array()))
    names.push_back(row.value("name", ""));
  const std::string meant = nearest(name, names);
  if (!meant.empty()) error.message += fmt::format(": did you mean {}?", meant);
  return error;
}

}  // namespace symnas::vnfsd::ctl
