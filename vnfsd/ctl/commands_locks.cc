// symnas lock ls, lock clear: byte-range locks as they are recorded.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct LockOptions {
  std::string filesystem, vnfs, client, path;
  std::uint64_t ino = 0;
  bool yes = false;
};

// RFC 3986: everything but unreserved characters as %XX.
std::string encoded(const std::string& value) {
  std::string out;
  for (const char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string query_of(const LockOptions& o, Mode mode) {
  std::string out;
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    out += fmt::format("{}{}={}", out.empty() ? "?" : "&", name, encoded(value));
  };
  add("filesystem", o.filesystem);
  add("vnfs", o.vnfs);
  add("client", o.client);
  add("path", o.path);
  if (o.ino != 0) add("ino", std::to_string(o.ino));
  if (mode == Mode::kDryRun) add("dry_run", "true");
  return out;
}

std::string age_text(const json& row) {
  if (!row.contains("age_s")) return "-";
  const std::int64_t s = row["age_s"].get<std::int64_t>();
  if (s < 120) return fmt::format("{}s", s);
  if (s < 7200) return fmt::format("{}m", s / 60);
  if (s < 2 * 86400) return fmt::format("{}h", s / 3600);
  return fmt::format("{}d", s / 86400);
}

// A row for each range.
json rows_of(const json& document) {
  json rows = json::array();
  for (const json& lock : document.value("locks", json::array())) {
    for (const json& range : lock.value("ranges", json::array())) {
      json row = lock;
      row.erase("ranges");
      row.update(range);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Status list(Context& context, const LockOptions& o) {
  SYMNAS_ASSIGN(const json document,
                context.client.request("GET", "/v1/locks" + query_of(o, Mode::kCommit), {}));
  if (context.output == Output::kJson) return context.print(document, "locks", {});
  const Column file{"FILE", [](const json& row) {
                      return row.contains("path")
                                 ? row["path"].get<std::string>()
                                 : fmt::format("inode {}", row.value("ino", std::uint64_t{0}));
                    }};
  const Column length{"LENGTH", [](const json& row) {
                        return row.contains("length")
                                   ? std::to_string(row["length"].get<std::uint64_t>())
                                   : std::string("to the end");
                      }};
  const Column revocable{"REVOCABLE", [](const json& row) {
                           return row.value("revocable", "") == "if_away" ? "if away" : "no";
                         }};
  return context.print(
      json{{"rows", rows_of(document)}}, "rows",
      {plain("FS", "filesystem"), file, plain("VNFS", "vnfs"), plain("CLIENT", "client"),
       plain("ADDRESS", "address"), plain("OWNER", "owner"), plain("PROTOCOL", "protocol"),
       plain("TYPE", "type"), plain("START", "start"), length, Column{"AGE", age_text}, revocable});
}

Status clear(Context& context, const LockOptions& o) {
  const bool narrows = !o.filesystem.empty() || !o.vnfs.empty() || !o.client.empty() || o.ino != 0;
  if (!narrows)
    return fail(ErrorCode::kInvalidArgument,
                "lock clear: say whose: --fs, --vnfs, --client, --path or --ino");
  const Mode mode = o.yes ? context.mode : Mode::kDryRun;
  SYMNAS_ASSIGN(const json document,
                context.client.request("DELETE", "/v1/locks" + query_of(o, mode), {}));
  if (o.yes || context.mode == Mode::kDryRun) {
    context.print_done(document);
    return {};
  }
  std::string what;
  for (const json& line : document.value("done", json::array()))
    what += (what.empty() ? "" : "; ") + line.get<std::string>();
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("lock clear: {}; their owners are not told and go on as if they held "
                          "them: with --yes it is done",
                          what));
}

void add_filters(CLI::App* verb, LockOptions& o) {
  CLI::Option* filesystem = verb->add_option("--fs", o.filesystem, "Of this filesystem");
  verb->add_option("--vnfs", o.vnfs, "Taken through this VNFS");
  verb->add_option("--client", o.client,
                   "Of this client: address or name (NFSv3), client id (NFSv4)");
  CLI::Option* path = verb->add_option("--path", o.path, "Of this file, from the filesystem's root")
                          ->needs(filesystem);
  verb->add_option("--ino", o.ino, "Of the file with this inode number")
      ->check(CLI::PositiveNumber)
      ->needs(filesystem)
      ->excludes(path);
}

}  // namespace

void add_lock(CommandLine& line) {
  CLI::App* noun =
      line.app.add_subcommand("lock", "Byte-range locks of clients")->require_subcommand(1);
  auto o = std::make_shared<LockOptions>();
  CLI::App* verb = noun->add_subcommand("ls", "Who holds what");
  add_filters(verb, *o);
  verb->callback([&line, o] { line.action = [o](Context& context) { return list(context, *o); }; });
  verb =
      add_change_verb(line, noun, "clear", "Take locks away from clients that will not come back");
  add_filters(verb, *o);
  verb->add_flag("--yes", o->yes, "Yes, whoever held them may go on writing");
  verb->callback(
      [&line, o] { line.action = [o](Context& context) { return clear(context, *o); }; });
}

}  // namespace symnas::vnfsd::ctl
