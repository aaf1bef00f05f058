#include "vnfsd/ctl/command_tree.h"

#include <sstream>

namespace symnas::vnfsd::ctl {
namespace {

void visit_below(const CLI::App& app, const std::string& path,
                 const std::function<void(const std::string&, const CLI::App&)>& visit) {
  for (const CLI::App* verb : verbs_of(app)) {
    const std::string below = path + " " + verb->get_name();
    visit(below, *verb);
    visit_below(*verb, below, visit);
  }
}

}  // namespace

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

void for_each_command(const CLI::App& root,
                      const std::function<void(const std::string& path, const CLI::App&)>& visit) {
  visit_below(root, "", visit);
}

CLI::App* find_command(CLI::App& root, const std::string& path) {
  CLI::App* app = &root;
  std::istringstream words(path);
  for (std::string word; words >> word;) {
    const auto named = app->get_subcommands([&](CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) return nullptr;
    app = named.front();
  }
  return app;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

std::vector<std::string> words_of(const CLI::Option& option) {
  // CLI11 says what a check allows in the type: "TEXT:{auto,manual}", and of a transformer
  // "ENUM:value in {json->1,table->0} OR {1,0}".
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos) return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');)
    words.push_back(word.substr(0, word.find("->")));
  return words;
}

}  // namespace symnas::vnfsd::ctl
