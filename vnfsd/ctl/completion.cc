#include "vnfsd/ctl/completion.h"

#include <fmt/core.h>

#include "vnfsd/ctl/command_tree.h"
#include "vnfsd/ctl/value_kinds.h"

namespace symnas::vnfsd::ctl {
namespace {

// Both shells: which word is asked for? `verb` gets the commands so far, `kind` what its value is
// (value_kinds.h), "" = options and commands. --socket is passed on to `symnas complete-names`.
constexpr const char* kBash = R"~(_symnas() {
  local cur=${COMP_WORDS[COMP_CWORD]} verb= option= place=1 kind word i before=
  local -a ask=("${COMP_WORDS[0]}")
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    [[ $word != = ]] || continue
    if [[ -n $option ]]; then
      [[ $option != --socket ]] || ask+=(--socket "$word")
      option=
    elif [[ $word == -* ]]; then
      [[ -z $(_symnas_kind "$verb" "$word") ]] || option=$word
    else
      case " $(_symnas_verbs "$verb") " in
        *" $word "*) verb+=" $word" ;;
        *) place=$((place + 1)) ;;
      esac
    fi
  done
  [[ $cur != = ]] || cur=
  if [[ -n $option ]]; then
    kind=$(_symnas_kind "$verb" "$option")
  elif [[ $cur == -* ]]; then
    kind="=$(_symnas_options "$verb")"
  elif [[ -n $(_symnas_verbs "$verb") ]]; then
    kind="=$(_symnas_verbs "$verb")"
  else
    kind=$(_symnas_kind "$verb" $place)
  fi
  case $kind in
    files) return ;;  # by -o default
    "" | -) compopt +o default 2>/dev/null ;;
    "="*) COMPREPLY=($(compgen -W "${kind#=}" -- "$cur")) ;;
    *)
      if [[ $kind == *, && $cur == *,* ]]; then
        before=${cur%,*},
        cur=${cur##*,}
      fi
      COMPREPLY=($(compgen -P "$before" -W \
        "$("${ask[@]}" complete-names "${kind%,}" 2>/dev/null </dev/null)" -- "$cur"))
      compopt +o default 2>/dev/null
      ;;
  esac
}
complete -o default -F _symnas symnas
)~";

constexpr const char* kZsh = R"~(_symnas() {
  local verb= option= place=1 kind word
  local -a ask=("$words[1]")
  for word in "${(@)words[2,CURRENT-1]}"; do
    [[ -n $word ]] || continue
    if [[ -n $option ]]; then
      [[ $option != --socket ]] || ask+=(--socket "$word")
      option=
    elif [[ $word == -*=* ]]; then
      [[ $word != --socket=* ]] || ask+=("$word")
    elif [[ $word == -* ]]; then
      [[ -z $(_symnas_kind "$verb" "$word") ]] || option=$word
    else
      case " $(_symnas_verbs "$verb") " in
        *" $word "*) verb+=" $word" ;;
        *) place=$((place + 1)) ;;
      esac
    fi
  done
  word=$words[CURRENT]
  if [[ -z $option && $word == --*=* ]]; then
    option=${word%%=*}
    compset -P '*='
  fi
  if [[ -n $option ]]; then
    kind=$(_symnas_kind "$verb" "$option")
  elif [[ $word == -* ]]; then
    kind="=$(_symnas_options "$verb")"
  elif [[ -n $(_symnas_verbs "$verb") ]]; then
    kind="=$(_symnas_verbs "$verb")"
  else
    kind=$(_symnas_kind "$verb" $place)
  fi
  case $kind in
    files) _files ;;
    ''|-) ;;
    "="*) compadd -- ${=${kind#=}} ;;
    *)
      [[ $kind != *, ]] || compset -P '*,'
      compadd -- ${(f)"$("${ask[@]}" complete-names "${kind%,}" 2>/dev/null </dev/null)"}
      ;;
  esac
}
_symnas "$@"
)~";

struct Tables {
  std::string verbs, options, kinds;
};

std::string row(const std::string& key, const std::string& words) {
  return fmt::format("    \"{}\") echo \"{}\" ;;\n", key, words);
}

void add_kinds(const CLI::App& app, const std::string& path, Tables& tables) {
  const std::string command = path.empty() ? "" : path.substr(1);
  int place = 0;
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : app.get_options()) {
    if (!takes_value(*option)) continue;
    const std::string kind = value_kind(command, *option);
    if (!option->nonpositional()) {
      last = option;
      tables.kinds += row(fmt::format("{}:{}", path, ++place), kind);
      continue;
    }
    if (option->get_items_expected_min() == 0) continue;  // --watch may stand alone
    for (const std::string& name : option->get_lnames())
      tables.kinds += path.empty() ? fmt::format("    *\":--{}\") echo \"{}\" ;;\n", name, kind)
                                   : row(path + ":--" + name, kind);
    for (const std::string& name : option->get_snames())
      tables.kinds += fmt::format("    *\":-{}\") echo \"{}\" ;;\n", name, kind);
  }
  if (last != nullptr && last->get_items_expected_max() > 1)
    tables.kinds +=
        fmt::format("    \"{}:\"[0-9]*) echo \"{}\" ;;\n", path, value_kind(command, *last));
}

void add_rows(const CLI::App& app, const std::string& path, Tables& tables) {
  std::string verbs;
  for (const CLI::App* verb : verbs_of(app)) verbs += (verbs.empty() ? "" : " ") + verb->get_name();
  std::string options;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      if (!path.empty() && name != "help") options += "--" + name + " ";
  }
  if (!verbs.empty()) tables.verbs += row(path, verbs);
  if (!path.empty()) tables.options += row(path, options + "$every");
  add_kinds(app, path, tables);
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  Tables tables;
  // Options of the line as a whole come last: those of a command have the same name, or none.
  for_each_command(app, [&](const std::string& path, const CLI::App& command) {
    add_rows(command, path, tables);
  });
  add_rows(app, "", tables);
  std::string everywhere;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) everywhere += "-" + name + " ";
    for (const std::string& name : option->get_lnames()) everywhere += "--" + name + " ";
  }
  if (!everywhere.empty()) everywhere.pop_back();
  const bool zsh = shell == "zsh";
  return fmt::format("{}# Made by `symnas completion {}`.\n", zsh ? "#compdef symnas\n" : "",
                     shell) +
         fmt::format("_symnas_verbs() {{\n  case $1 in\n{}  esac\n}}\n\n", tables.verbs) +
         fmt::format(
             "_symnas_options() {{\n  local every=\"{}\"\n  case $1 in\n{}    *) echo "
             "\"$every\" ;;\n  esac\n}}\n\n",
             everywhere, tables.options) +
         fmt::format("_symnas_kind() {{\n  case \"${{1}}:${{2}}\" in\n{}  esac\n}}\n\n",
                     tables.kinds) +
         (zsh ? kZsh : kBash);
}

}  // namespace symnas::vnfsd::ctl
