#include "vnfsd/ctl/run.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/base/version.h"
#include "vnfsd/api/wire.h"
#include "vnfsd/ctl/clean_client.h"
#include "vnfsd/ctl/command_tree.h"
#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/commands_access.h"
#include "vnfsd/ctl/completion.h"
#include "vnfsd/ctl/examples.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/remote.h"
#include "vnfsd/ctl/suggestions.h"
#include "vnfsd/ctl/watch.h"

namespace symnas::vnfsd::ctl {
namespace {

constexpr const char* kDefaultSocket = "/run/symnas/vnfsd.sock";
constexpr const char* kWatch = "--watch";
constexpr int kWatchSeconds = 2;
constexpr int kWatchSecondsMax = 3600;

int report(const Error& error, Output output, std::ostream& out, std::ostream& err) {
  if (output == Output::kJson) {
    out << api::error_to_json(error).dump(2) << "\n";
  } else {
    err << "symnas: " << error.message << "\n";
  }
  return exit_code(error.code);
}

void add_completion(CommandLine& line) {
  CLI::App* app =
      line.app.add_subcommand("completion", "Print what a shell completes: bash or zsh");
  auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  app->callback([&line, shell] {
    line.action = [&line, shell](Context& context) -> Status {
      context.out << completion_script(line.app, *shell);
      return {};
    };
  });
}

// Commands that show something can show it again and again.
void add_watch(CLI::App& app) {
  std::vector<std::string> shows = {"status",       "capacity", "vnfs status", "vnfs why",
                                    "vnfs history", "lock ls",  "ha standing"};
  for_each_command(app, [&](const std::string& path, const CLI::App& command) {
    if (command.get_name() == "ls" && path != " lock ls") shows.push_back(path);
  });
  for (const std::string& path : shows) {
    find_command(app, path)
        ->add_option(kWatch, "Show it again every so many seconds (2), until it is interrupted")
        ->expected(0, 1)
        ->type_name("SECONDS");
  }
}

}  // namespace

void add_commands(CommandLine& line) {
  add_cluster(line);
  add_head(line);
  add_etcd(line);
  add_network(line);
  add_lun(line);
  add_volume(line);
  add_filesystem(line);
  add_export(line);
  add_vnfs(line);
  add_ha(line);
  add_lock(line);
  add_quota(line);
  add_status(line);
  add_capacity(line);
  add_events(line);
  add_top(line);
  add_api(line);
  add_audit(line);
  add_job(line);
  add_drill(line);
  add_quickstart(line);
  add_oranfstab(line);
  add_completion(line);
  add_support_bundle(line);
  add_explain(line);
  add_complete_names(line);
  add_man(line);
  add_watch(line.app);
  add_examples(line.app);
}

namespace {

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants it
  app.parse(reversed);
}

// What the option --watch of a command says; {} = it was not given.
Result<std::optional<int>> watch_seconds(const CLI::App& app) {
  std::optional<std::string> given;
  for_each_command(app, [&](const std::string&, const CLI::App& command) {
    const CLI::Option* option = command.get_option_no_throw(kWatch);
    if (option == nullptr || option->count() == 0) return;
    given = option->results().empty() ? "" : option->results().front();
  });
  if (!given) return std::nullopt;
  if (given->empty() || *given == "true" || *given == "{}") return kWatchSeconds;
  int seconds = 0;
  const char* const end = given->data() + given->size();
  const auto [last, error] = std::from_chars(given->data(), end, seconds);
  if (error == std::errc{} && last == end && seconds >= 1 && seconds <= kWatchSecondsMax)
    return seconds;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--watch {}: not a number of seconds from 1 to {} (without a number, "
                          "--watch is the last word)",
                          *given, kWatchSecondsMax));
}

bool is_coloured(const std::string& wish, const Terminal& terminal) {
  if (wish != "auto") return wish == "always";
  return terminal.is_terminal && !terminal.is_dumb && !terminal.no_colour;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

Status run_words(Context& context, const std::vector<std::string>& words) {
  CLI::App app;
  CommandLine line{app, {}};
  add_commands(line);
  try {
    parse(app, words);
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::kInvalidArgument, error.what());
  }
  return line.action(context);
}

Result<nlohmann::json> rows_of(Context& context, const std::string& collection) {
  SYMNAS_ASSIGN(const nlohmann::json document,
                context.client.request("GET", "/v1/" + collection, {}));
  return document.value(collection, nlohmann::json::array());
}

nlohmann::json row_of(const nlohmann::json& rows, const std::string& name) {
  for (const nlohmann::json& row : rows) {
    if (row.value("name", "") == name) return row;
  }
  return {};
}

Status check_path_name(const std::string& name) {
  if (!name.empty() && name.find_first_of("/?#% ") == std::string::npos) return {};
  return fail(ErrorCode::kInvalidArgument, "'" + name + "': not a name");
}

CLI::App* add_change_verb(CommandLine& line, CLI::App* noun, const std::string& verb,
                          const std::string& what) {
  CLI::App* app = noun->add_subcommand(verb, what);
  app->add_flag("--dry-run", line.dry_run, "Check everything, change nothing");
  return app;
}

void add_list_verb(CommandLine& line, CLI::App* noun, const std::string& collection,
                   std::vector<Column> columns) {
  noun->add_subcommand("ls", "List them")
      ->callback([&line, collection, columns = std::move(columns)] {
        line.action = [collection, columns](Context& context) {
          return context.list(collection, columns);
        };
      });
}

void add_remove_verb(CommandLine& line, CLI::App* noun, const std::string& verb,
                     const std::string& collection, const std::string& what) {
  auto name = std::make_shared<std::string>();
  CLI::App* app = add_change_verb(line, noun, verb, what);
  app->add_option("NAME", *name, "Name")->required();
  app->callback([&line, name, collection] {
    line.action = [name, collection](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(*name));
      return context.change("DELETE", "/v1/" + collection + "/" + *name, {});
    };
  });
}

int run_symnas(std::vector<std::string> arguments, const ClientFactory& factory, std::ostream& out,
               std::ostream& err, const Surroundings& surroundings) {
  CLI::App app("Manage a symnas cluster: NFS heads in front of shared LUNs", "symnas");
  app.require_subcommand(1);
  app.fallthrough();  // inherited: -o and --socket may stand anywhere
  const char* const from_environment = std::getenv("SYMNAS_SOCKET");
  std::string socket = from_environment != nullptr ? from_environment : kDefaultSocket;
  std::string colour = "auto";
  Output output = Output::kTable;
  const std::map<std::string, Output> outputs = {{"table", Output::kTable},
                                                 {"json", Output::kJson}};
  app.add_option("-o,--output", output, "table or json")
      ->transform(CLI::CheckedTransformer(outputs));
  app.set_version_flag("--version", std::string("symnas ") + kVersion);
  const CLI::Option* socket_option =
      app.add_option("--socket", socket, "vnfsd's socket; also $SYMNAS_SOCKET")
          ->capture_default_str();
  RemoteConfig remote;
  add_remote_options(app, remote);
  app.add_option("--color", colour,
                 "Colours of states: auto is on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();

  CommandLine line{app, {}};
  add_commands(line);
  try {
    parse(app, arguments);
  } catch (const CLI::Success& success) {
    return app.exit(success, out, err);
  } catch (const CLI::ParseError& error) {
    app.exit(error, out, err);
    const std::string meant = meant_by(app, arguments);
    if (!meant.empty()) err << "symnas: " << meant << "\n";
    return kExitUsage;
  }
  const auto watched = watch_seconds(app);
  if (!watched) return report(watched.error(), output, out, err);

  const Terminal& terminal = surroundings.terminal;
  auto over_network = remote_client(
      remote, socket, from_environment != nullptr || socket_option->count() > 0, std::cin);
  if (!over_network) return report(over_network.error(), output, out, err);
  const auto asked = *over_network ? std::move(*over_network) : factory(socket);
  CleanClient clean(*asked, terminal.charset);
  // What a program reads is left as it is: JSON has no other escapes.
  const bool is_read_by_program = output == Output::kJson && !terminal.is_terminal;
  api::ApiClient& client = is_read_by_program ? *asked : clean;
  int status = 0;
  const auto look = [&](std::ostream& to) {
    Context context{client, to, output, line.dry_run ? Mode::kDryRun : Mode::kCommit};
    if (is_coloured(colour, terminal)) context.paint = Paint::kColours;
    const Status done = line.action(context);
    status = context.exit_code;
    return done;
  };
  const Status done =
      *watched ? watch({**watched, output, joined(arguments)}, surroundings, out, look) : look(out);
  if (!done) return report(with_near_name(done.error(), client), output, out, err);
  out.flush();
  if (out.good()) return *watched ? 0 : status;
  err << "symnas: the output cannot be written\n";
  return kExitFailed;
}

}  // namespace symnas::vnfsd::ctl
