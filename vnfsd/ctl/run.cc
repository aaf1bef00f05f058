#include "vnfsd/ctl/run.h"

#include <cstdlib>
#include <map>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/base/version.h"
#include "vnfsd/api/wire.h"
#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/completion.h"
#include "vnfsd/ctl/exit_code.h"

namespace symnas::vnfsd::ctl {
namespace {

constexpr const char* kDefaultSocket = "/run/symnas/vnfsd.sock";

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
  add_status(line);
  add_capacity(line);
  add_events(line);
  add_drill(line);
  add_quickstart(line);
  add_completion(line);
  add_support_bundle(line);
}

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants it
  app.parse(reversed);
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
               std::ostream& err) {
  CLI::App app("Manage a symnas cluster: NFS heads in front of shared LUNs", "symnas");
  app.require_subcommand(1);
  app.fallthrough();  // inherited: -o and --socket may stand anywhere
  const char* const from_environment = std::getenv("SYMNAS_SOCKET");
  std::string socket = from_environment != nullptr ? from_environment : kDefaultSocket;
  Output output = Output::kTable;
  const std::map<std::string, Output> outputs = {{"table", Output::kTable},
                                                 {"json", Output::kJson}};
  app.add_option("-o,--output", output, "table or json")
      ->transform(CLI::CheckedTransformer(outputs));
  app.set_version_flag("--version", std::string("symnas ") + kVersion);
  app.add_option("--socket", socket, "vnfsd's socket; also $SYMNAS_SOCKET")->capture_default_str();

  CommandLine line{app, {}};
  add_commands(line);
  try {
    parse(app, arguments);
  } catch (const CLI::Success& success) {
    return app.exit(success, out, err);
  } catch (const CLI::ParseError& error) {
    app.exit(error, out, err);
    return kExitUsage;
  }
  const auto client = factory(socket);
  Context context{*client, out, output, line.dry_run ? Mode::kDryRun : Mode::kCommit};
  const Status done = line.action(context);
  return done ? context.exit_code : report(done.error(), output, out, err);
}

}  // namespace symnas::vnfsd::ctl
