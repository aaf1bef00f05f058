// symnas api: the API over the network: tokens and certificates.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands_access.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/pki/request.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t kNsPerDay = 86'400'000'000'000;

struct TokenOptions {
  std::string name;
  std::string role;
  std::string expires;
  std::string out;
};

struct CertificateOptions {
  std::string name;
  std::string out = ".";
  std::vector<std::string> addresses;
  bool listener = false;
  std::uint64_t days = 365;
};

// "90d", "12h", "30m" in seconds. Errors: kInvalidArgument.
Result<std::uint64_t> seconds_of(const std::string& text) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const std::uint64_t unit_s = end + 1 != last ? 0
                               : *end == 'd'   ? 86'400
                               : *end == 'h'   ? 3600
                               : *end == 'm'   ? 60
                                               : 0;
  if (error == std::errc{} && unit_s != 0 && value > 0 && value < 100'000) return value * unit_s;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--expires {}: a number of days, hours or minutes: 90d, 12h, 30m", text));
}

// A new file of that mode: nothing is overwritten. Errors: kAlreadyExists, kIo.
Status write_new(const std::string& path, const std::string& text, mode_t mode) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  const bool written =
      fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (written) return {};
  return fail(error == EEXIST ? ErrorCode::kAlreadyExists : ErrorCode::kIo,
              fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

Status create_token(Context& context, const TokenOptions& o) {
  json body = {{"name", o.name}, {"role", o.role}};
  if (!o.expires.empty()) {
    SYMNAS_ASSIGN(body["lifetime_s"], seconds_of(o.expires));
  }
  if (context.mode == Mode::kDryRun) return context.change("POST", "/v1/api-tokens", body);
  SYMNAS_ASSIGN(json document, context.client.request("POST", "/v1/api-tokens", body));
  const std::string token = document.value("token", "");
  if (!o.out.empty()) {
    SYMNAS_TRY(write_new(o.out, token + "\n", 0600));
    context.print_done(fmt::format("api token {}: written to {}", o.name, o.out));
  } else if (context.output == Output::kJson) {
    context.out << document.dump(2) << "\n";
  } else {
    context.out << token << "\n";
  }
  return {};
}

Status issue(Context& context, const CertificateOptions& o) {
  SYMNAS_TRY(check_path_name(o.name));
  const std::string base = o.out + "/" + (o.listener ? "server" : o.name);
  // The key is made here and goes nowhere.
  SYMNAS_ASSIGN(const pki::KeyAndRequest made, pki::make_request(o.name));
  const json body = {{"name", o.name},
                     {"request", made.request_pem},
                     {"for_listener", o.listener},
                     {"names", o.addresses},
                     {"days", o.days}};
  if (context.mode == Mode::kDryRun) return context.change("POST", "/v1/api-certificates", body);
  for (const std::string& path : {base + ".key", base + ".crt"}) {
    if (::access(path.c_str(), F_OK) == 0)
      return fail(ErrorCode::kAlreadyExists, fmt::format("{}: exists", path));
  }
  SYMNAS_ASSIGN(const json document, context.client.request("POST", "/v1/api-certificates", body));
  const std::string authority = document.value("authority", "");
  SYMNAS_TRY(write_new(base + ".key", made.key_pem, 0600));
  SYMNAS_TRY(write_new(base + ".crt", document.value("certificate", ""), 0600));
  const std::string ca = o.out + "/ca.crt";
  const auto there = instance::read_file(ca);
  if (!there) {
    SYMNAS_TRY(write_new(ca, authority, 0644));
  } else if (*there != authority) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("{}: is of another authority and is left alone; {}.crt and {}.key are "
                            "written: symnas api cert issue --out with a folder of its own, and "
                            "symnas api cert revoke of this one",
                            ca, base, base));
  }
  context.print_done(fmt::format("api certificate {}: {}.crt, {}.key and {}/ca.crt written", o.name,
                                 base, base, o.out));
  return {};
}

Column day(std::string title, std::string key) {
  return {std::move(title), [key = std::move(key)](const json& row) {
            const std::int64_t ns = row.value(key, std::int64_t{0});
            return ns == 0 ? "never" : local_time(ns / kNsPerDay * kNsPerDay).substr(0, 10);
          }};
}

void add_tokens(CommandLine& line, CLI::App* api) {
  CLI::App* noun = api->add_subcommand("token", "What gives a role to who asks over the network")
                       ->require_subcommand(1);
  auto o = std::make_shared<TokenOptions>();
  CLI::App* verb = add_change_verb(line, noun, "create", "Make a token; it is shown this once");
  verb->add_option("NAME", o->name, "Whose or what for: it stands in the audit log")->required();
  verb->add_option("--role", o->role, "What it may: viewer, operator or admin")
      ->required()
      ->check(CLI::IsMember({"viewer", "operator", "admin"}));
  verb->add_option("--expires", o->expires, "When it ends: 90d, 12h, 30m; without it never");
  verb->add_option("--out", o->out, "Write it to this new file, mode 0600, instead of showing it");
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return create_token(context, *o); }; });
  noun->add_subcommand("ls", "List them")->callback([&line] {
    line.action = [](Context& context) -> Status {
      SYMNAS_ASSIGN(const json document, context.client.request("GET", "/v1/api-tokens", {}));
      return context.print(document, "tokens",
                           {plain("NAME", "name"), plain("ROLE", "role"), plain("STATE", "state"),
                            day("EXPIRES", "expires_ns"), plain("MADE BY", "made_by")});
    };
  });
  add_remove_verb(line, noun, "revoke", "api-tokens", "Refuse it from now on, on every head");
}

void add_certificates(CommandLine& line, CLI::App* api) {
  CLI::App* noun =
      api->add_subcommand("cert", "What opens the door over the network")->require_subcommand(1);
  auto o = std::make_shared<CertificateOptions>();
  CLI::App* verb = add_change_verb(line, noun, "issue",
                                   "Make a key and a certificate; on the head of symnas api on");
  verb->add_option("NAME", o->name, "Whose it is; of a listener: the head")->required();
  verb->add_option("--out", o->out, "Folder for NAME.key, NAME.crt and ca.crt")
      ->capture_default_str();
  verb->add_option("--days", o->days, "How long it is good: 1 to 825")
      ->check(CLI::Range(1, 825))
      ->capture_default_str();
  CLI::Option* listener =
      verb->add_flag("--listener", o->listener, "For the listener of another head: server.key");
  verb->add_option("--address", o->addresses, "Name or address of the listener (may be repeated)")
      ->needs(listener)
      ->allow_extra_args(false);
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return issue(context, *o); }; });
  noun->add_subcommand("ls", "List them")->callback([&line] {
    line.action = [](Context& context) -> Status {
      SYMNAS_ASSIGN(const json document, context.client.request("GET", "/v1/api-certificates", {}));
      return context.print(document, "certificates",
                           {plain("NAME", "name"), plain("FOR", "use"), plain("STATE", "state"),
                            day("ENDS", "not_after_ns"), plain("SERIAL", "serial")});
    };
  });
  add_remove_verb(line, noun, "revoke", "api-certificates",
                  "Refuse a certificate (its serial), or all of a name, on every head");
}

}  // namespace

void add_api(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("api", "The API over the network: who may use it")
                       ->require_subcommand(1);
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* on = add_change_verb(
      line, noun, "on", "Make the API's authority, and the certificate of this head's listener");
  on->add_option("--address", *names, "Further name or address of the listener (may be repeated)")
      ->allow_extra_args(false);
  on->callback([&line, names] {
    line.action = [names](Context& context) {
      return context.change("POST", "/v1/api-listener", json{{"names", *names}});
    };
  });
  add_tokens(line, noun);
  add_certificates(line, noun);
}

}  // namespace symnas::vnfsd::ctl
