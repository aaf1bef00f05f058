#include "vnfsd/ctl/man_page.h"

#include <sstream>

#include <fmt/core.h>

#include "vnfsd/ctl/command_tree.h"
#include "vnfsd/ctl/details.h"
#include "vnfsd/ctl/error_guide.h"
#include "vnfsd/ctl/examples.h"
#include "vnfsd/ctl/value_kinds.h"

namespace symnas::vnfsd::ctl {
namespace {

constexpr std::size_t kLineMax = 78;  // mandoc -Tlint asks for lines of at most 80 bytes

// A word that roff takes as it is.
std::string escaped(const std::string& word) {
  std::string out;
  for (const char c : word) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '"') {
      out += "\\(dq";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out.rfind('.', 0) == 0 ? "\\&" + out : out;
}

bool ends_sentence(const std::string& word) {
  return !word.empty() && (word.back() == '.' || word.back() == '?' || word.back() == '!') &&
         !word.ends_with("...");
}

// Lines of text: a sentence begins on a new one.
std::string text_lines(const std::string& text) {
  std::string out;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) out += line + "\n";
    line.clear();
  };
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string shown = escaped(word);
    if (!line.empty() && line.size() + 1 + shown.size() > kLineMax) end_line();
    line += (line.empty() ? "" : " ") + shown;
    if (ends_sentence(word)) end_line();
  }
  end_line();
  return out;
}

std::string command_of(const std::string& path) { return path.empty() ? path : path.substr(1); }

// What stands for the value: "auto|manual", "HEAD,...", "FILE", "N", "VALUE".
std::string value_name(const std::string& command, const CLI::Option& option) {
  if (!option.nonpositional()) return option.get_name(true);
  const std::string kind = value_kind(command, option);
  if (kind.rfind('=', 0) == 0) {
    std::string words = kind.substr(1);
    for (char& c : words) c = c == ' ' ? '|' : c;
    return words;
  }
  if (kind == "files") return "FILE";
  if (option.get_type_name().rfind("INT", 0) == 0 || option.get_type_name().rfind("UINT", 0) == 0)
    return "N";
  if (option.get_type_name() == "SECONDS") return "SECONDS";
  std::string name = option.get_lnames().front();
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const bool list = option.get_delimiter() == ',';
  if (list && name.back() == 'S') name.pop_back();
  return list ? name + ",..." : name;
}

// "--heads HEAD,...", "NAME", "--watch [N]".
std::string usage_of(const std::string& command, const CLI::Option& option) {
  const std::string more =
      option.get_items_expected_max() > 1 && !option.nonpositional() ? " ..." : "";
  if (!option.nonpositional()) return value_name(command, option) + more;
  std::string name = "--" + option.get_lnames().front();
  for (const std::string& letter : option.get_snames()) name = fmt::format("-{}, {}", letter, name);
  if (!takes_value(option)) return name;
  const std::string value = value_name(command, option);
  return option.get_items_expected_min() == 0 ? fmt::format("{} [{}]", name, value)
                                              : fmt::format("{} {}", name, value);
}

// Those of a command, without --help.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return !option->check_lname("help") && !option->get_group().empty();
  });
}

std::string options_list(const CLI::App& app, const std::string& command) {
  std::string out;
  for (const CLI::Option* option : options_of(app)) {
    out += ".It " + escaped(usage_of(command, *option)) + "\n";
    std::string text = option->get_description();
    if (option->get_required()) text += " (required)";
    if (!option->get_default_str().empty())
      text += fmt::format(" (default: {})", option->get_default_str());
    out += text_lines(text.empty() ? "See above" : text);
  }
  return out.empty() ? out : ".Bl -tag -width Ds\n" + out + ".El\n";
}

std::string examples_list(const CLI::App& command) {
  std::string out;
  for (const std::string& line : examples_of(command)) out += escaped("symnas " + line) + "\n";
  return out.empty() ? out : ".Pp\nExamples:\n.Bd -literal -offset indent\n" + out + ".Ed\n";
}

std::string command_entry(const CLI::App& app, const std::string& path) {
  const std::string command = command_of(path);
  std::string out = text_lines("symnas " + synopsis_of(app, path));
  std::string text = app.get_description();
  if (!text.empty() && text.back() != '.') text += ".";
  const std::string_view details = details_of(command);
  out = ".Bd -ragged -offset indent\n" + out + ".Ed\n.Pp\n" + text_lines(text);
  if (!details.empty()) out += ".Pp\n" + text_lines(std::string(details));
  return out + options_list(app, command) + examples_list(app);
}

std::string heading(const std::string& name, const std::string& what, const std::string& date) {
  std::string upper = name;
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string shown = what;
  if (!shown.empty() && shown.back() == '.') shown.pop_back();
  return fmt::format(
      ".\\\" Made by symnas itself (symnas man).\n.Dd {}\n.Dt {} 1\n.Os\n.Sh NAME\n"
      ".Nm {}\n.Nd {}\n",
      date, upper, name, escaped(shown));
}

std::string exit_status() {
  std::string out = ".Sh EXIT STATUS\n.Bl -tag -width Ds\n";
  for (const ExitGuide& one : exit_guides())
    out += fmt::format(".It {}\n{}", one.status, text_lines(std::string(one.meaning)));
  return out + ".El\n.Pp\n" +
         text_lines(
             "symnas explain says what each of them and each error code means, and what to "
             "do next.");
}

std::string overview(const CLI::App& app, const std::string& date) {
  std::string out = heading("symnas", app.get_description(), date);
  out += ".Sh SYNOPSIS\n.Nm\n.Op Ar options\n.Ar command\n.Op Ar argument ...\n.Sh DESCRIPTION\n";
  out += text_lines(
      "symnas asks vnfsd on this head through its unix socket. Options may stand anywhere after "
      "the "
      "command. Commands that change something take --dry-run: everything is checked, nothing is "
      "changed. Commands that show something take --watch: they show it again and again. Sizes are "
      "numbers with K, M, G or T (powers of 1024). Each command has its own page, and --help with "
      "examples.");
  out += ".Pp\nOptions of every command:\n" + options_list(app, "");
  out += ".Sh COMMANDS\n.Bl -tag -width Ds\n";
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format(".It Xr symnas\\-{} 1\n{}", escaped(verb->get_name()),
                       text_lines(verb->get_description()));
  }
  out +=
      ".El\n.Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
      ".It Ev SYMNAS_SOCKET\nThe socket of vnfsd, unless \\-\\-socket names one.\n"
      ".It Ev NO_COLOR\nIf it is not empty, \\-\\-color auto means never.\n.El\n"
      ".Sh FILES\n.Bl -tag -width Ds\n.It Pa /run/symnas/vnfsd.sock\nThe socket of vnfsd.\n"
      ".It Pa /etc/symnas/vnfsd.toml\nThe configuration of this head.\n.El\n";
  return out + exit_status() +
         ".Sh SEE ALSO\n.Xr symnas\\-fence 8 ,\n.Xr symnas\\-launch 8 ,\n.Xr vnfsd 8\n";
}

}  // namespace

std::vector<std::string> man_groups(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* verb : verbs_of(app)) out.push_back(verb->get_name());
  return out;
}

std::string synopsis_of(const CLI::App& app, const std::string& path) {
  const std::string command = command_of(path);
  std::string out = command;
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : options_of(app)) {
      if (option->nonpositional() == positional) continue;
      const std::string usage = usage_of(command, *option);
      out += option->get_required() ? " " + usage : fmt::format(" [{}]", usage);
    }
  }
  return out;
}

std::string man_page(const CLI::App& app, const std::string& group, const std::string& date) {
  if (group.empty()) return overview(app, date);
  const CLI::App& noun = *app.get_subcommand(group);
  std::string out = heading("symnas-" + group, noun.get_description(), date);
  std::string synopsis;
  std::string entries;
  const auto add = [&](const std::string& path, const CLI::App& command) {
    if (!verbs_of(command).empty()) return;
    synopsis += text_lines("symnas " + synopsis_of(command, path)) + ".br\n";
    entries += ".Ss " + escaped(command_of(path)) + "\n" + command_entry(command, path);
  };
  add(" " + group, noun);
  for_each_command(noun, [&](const std::string& path, const CLI::App& command) {
    add(" " + group + path, command);
  });
  out += ".Sh SYNOPSIS\n" + synopsis.substr(0, synopsis.size() - 4);
  out += ".Sh DESCRIPTION\n" + text_lines(
                                   "Options of every command, and exit codes, are in "
                                   "symnas(1).");
  return out + entries + ".Sh SEE ALSO\n.Xr symnas 1\n";
}

}  // namespace symnas::vnfsd::ctl
