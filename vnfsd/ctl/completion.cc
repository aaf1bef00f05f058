#include "vnfsd/ctl/completion.h"

#include <fmt/core.h>

namespace symnas::vnfsd::ctl {
namespace {

// Those of the command line as a whole may stand anywhere.
constexpr const char* kEverywhere = "-o --output --socket --help";

constexpr const char* kBash = R"~(_symnas() {
  local verb= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} != -* ]] || continue
    case " $(_symnas_words "$verb") " in *" ${COMP_WORDS[i]} "*) verb+=" ${COMP_WORDS[i]}" ;; esac
  done
  COMPREPLY=($(compgen -W "$(_symnas_words "$verb")" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _symnas symnas
)~";

constexpr const char* kZsh = R"~(_symnas() {
  local verb= word
  for word in ${words[2,CURRENT-1]}; do
    [[ $word != -* ]] || continue
    case " $(_symnas_words "$verb") " in *" $word "*) verb+=" $word" ;; esac
  done
  compadd -- ${=$(_symnas_words "$verb")} || _files
}
_symnas "$@"
)~";

// One line per verb: its words. `path` is " vnfs rehost", or "" of the whole.
void add_words(const CLI::App& app, const std::string& path, std::string& table) {
  std::string words;
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* verb : verbs) words += verb->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (!path.empty() && name != "help") words += "--" + name + " ";
    }
  }
  table += fmt::format("    \"{}\") echo \"{}{}\" ;;\n", path, words, kEverywhere);
  for (const CLI::App* verb : verbs) add_words(*verb, path + " " + verb->get_name(), table);
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  std::string table;
  add_words(app, "", table);
  const bool zsh = shell == "zsh";
  return fmt::format("{}# Made by `symnas completion {}`.\n", zsh ? "#compdef symnas\n" : "",
                     shell) +
         fmt::format("_symnas_words() {{\n  case $1 in\n{}  esac\n}}\n\n", table) +
         (zsh ? kZsh : kBash);
}

}  // namespace symnas::vnfsd::ctl
