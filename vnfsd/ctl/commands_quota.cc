// symnas quota on, off, set, rm, ls, report, tree add, rm, ls: how much of a filesystem who may
// use.
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/names/byte_size.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct QuotaOptions {
  std::string filesystem;
  std::optional<std::uint32_t> user, group;
  std::string tree;  // its directory, or its number
  bool whole = false, each_user = false, each_group = false;
  std::string bytes, soft_bytes;
  std::optional<std::uint64_t> inodes, soft_inodes, grace, inode_grace;
};

// A tree by its number, as ls shows it, or by its directory.
json named(const std::string& tree) {
  std::uint32_t id = 0;
  const auto parsed = std::from_chars(tree.data(), tree.data() + tree.size(), id);
  if (parsed.ec == std::errc() && parsed.ptr == tree.data() + tree.size()) return {{"id", id}};
  return {{"path", tree}};
}

Result<json> subject_of(const QuotaOptions& o) {
  if (static_cast<int>(o.user.has_value()) + static_cast<int>(o.group.has_value()) +
          static_cast<int>(!o.tree.empty()) + static_cast<int>(o.whole) +
          static_cast<int>(o.each_user) + static_cast<int>(o.each_group) !=
      1)
    return fail(ErrorCode::kInvalidArgument,
                "quota: say whose: one of --user, --group, --each-user, --each-group, --tree and "
                "--filesystem");
  if (o.user) return json{{"kind", "user"}, {"id", *o.user}};
  if (o.group) return json{{"kind", "group"}, {"id", *o.group}};
  if (o.whole) return json{{"kind", "filesystem"}};
  if (o.each_user) return json{{"kind", "each_user"}};
  if (o.each_group) return json{{"kind", "each_group"}};
  json body = named(o.tree);
  body["kind"] = "tree";
  return body;
}

void add_subject(CLI::App* verb, QuotaOptions& o) {
  verb->add_option("FS", o.filesystem, "The filesystem")->required();
  verb->add_option("--user", o.user, "Of the user with this number");
  verb->add_option("--group", o.group, "Of the group with this number");
  verb->add_option("--tree", o.tree, "Of the tree of this directory, or with this number");
  verb->add_flag("--filesystem", o.whole, "Of all users together");
  verb->add_flag("--each-user", o.each_user, "Of every user without a limit of his own");
  verb->add_flag("--each-group", o.each_group, "Of every group without a limit of its own");
}

std::string path_of(const QuotaOptions& o, const std::string& rest) {
  return "/v1/filesystems/" + o.filesystem + "/quotas" + rest;
}

Status set(Context& context, const QuotaOptions& o) {
  SYMNAS_TRY(check_path_name(o.filesystem));
  SYMNAS_ASSIGN(json body, subject_of(o));
  const auto add_bytes = [&](const char* key, const std::string& value) -> Status {
    if (value.empty()) return {};
    if (value == "0") {
      body[key] = 0U;
      return {};
    }
    SYMNAS_ASSIGN(const std::uint64_t bytes, parse_byte_size(value));
    body[key] = bytes;
    return {};
  };
  SYMNAS_TRY(add_bytes("bytes_hard", o.bytes));
  SYMNAS_TRY(add_bytes("bytes_soft", o.soft_bytes));
  if (o.inodes) body["inodes_hard"] = *o.inodes;
  if (o.soft_inodes) body["inodes_soft"] = *o.soft_inodes;
  if (o.grace) body["bytes_grace_s"] = *o.grace;
  if (o.inode_grace) body["inodes_grace_s"] = *o.inode_grace;
  return context.change("POST", path_of(o, "/set"), body);
}

std::string subject_text(const json& row) {
  const std::string kind = row.value("kind", "");
  if (kind == "filesystem") return "all";
  if (kind == "each_user") return "each user";
  if (kind == "each_group") return "each group";
  const std::string text = fmt::format("{} {}", kind, row.value("id", 0U));
  if (kind != "tree") return text;
  return fmt::format("{} {}{}", text, row.value("path", "?"),
                     row.value("marking", false) ? " (marking)" : "");
}

Column limit_column(const char* title, const char* key) {
  return {title, [key = std::string(key)](const json& row) -> std::string {
            const json limit = row.value("limit", json::object());
            const auto value = limit.value(key, std::uint64_t{0});
            if (value == 0) return "-";
            return key.starts_with("bytes") ? size("", "v").text(json{{"v", value}})
                                            : std::to_string(value);
          }};
}

Column left_column(const char* title, const char* key) {
  return {title, [key = std::string(key)](const json& row) -> std::string {
            if (!row.contains(key)) return "-";
            const auto left = row[key].get<std::int64_t>();
            return left == 0 ? "over" : fmt::format("{}h", (left + 3599) / 3600);
          }};
}

enum class Rows { kLimited, kAll, kTrees };

bool is_shown(const json& row, Rows which) {
  switch (which) {
    case Rows::kLimited: return row.contains("limit") && !row.value("limit_of_each", false);
    case Rows::kAll: return true;
    case Rows::kTrees: return row.value("kind", "") == "tree";
  }
  return false;
}

Status list(Context& context, const QuotaOptions& o, Rows which) {
  SYMNAS_TRY(check_path_name(o.filesystem));
  SYMNAS_ASSIGN(json document, context.client.request("GET", path_of(o, ""), {}));
  json shown = json::array();
  for (const json& row : document.value("quotas", json::array())) {
    if (is_shown(row, which)) shown.push_back(row);
  }
  document["quotas"] = std::move(shown);
  if (context.output != Output::kJson)
    context.out << fmt::format("fs {}: quotas are {}\n", o.filesystem,
                               document.value("state", "off"));
  return context.print(document, "quotas",
                       {Column{"WHOSE", subject_text}, size("USED", "used_bytes"),
                        limit_column("SOFT", "bytes_soft"), limit_column("HARD", "bytes_hard"),
                        left_column("GRACE", "bytes_grace_left_s"), plain("INODES", "used_inodes"),
                        limit_column("ISOFT", "inodes_soft"), limit_column("IHARD", "inodes_hard"),
                        left_column("IGRACE", "inodes_grace_left_s")});
}

void add_switch(CommandLine& line, CLI::App* noun, const char* name, const char* help) {
  auto o = std::make_shared<QuotaOptions>();
  CLI::App* verb = add_change_verb(line, noun, name, help);
  verb->add_option("FS", o->filesystem, "The filesystem")->required();
  verb->callback([&line, o, state = std::string(name)] {
    line.action = [o, state](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(o->filesystem));
      return context.change("POST", path_of(*o, "/state"), {{"state", state}});
    };
  });
}

void add_list(CommandLine& line, CLI::App* noun, const char* name, const char* help, Rows which) {
  auto o = std::make_shared<QuotaOptions>();
  CLI::App* verb = noun->add_subcommand(name, help);
  verb->add_option("FS", o->filesystem, "The filesystem")->required();
  verb->callback([&line, o, which] {
    line.action = [o, which](Context& context) { return list(context, *o, which); };
  });
}

// A verb with a filesystem and a tree: `add` asks for a path, `rm` also takes a number.
void add_tree_verb(CommandLine& line, CLI::App* noun, const char* name, const char* help) {
  auto o = std::make_shared<QuotaOptions>();
  CLI::App* verb = add_change_verb(line, noun, name, help);
  const bool adds = std::string_view(name) == "add";
  verb->add_option("FS", o->filesystem, "The filesystem")->required();
  verb->add_option(adds ? "PATH" : "TREE", o->tree,
                   adds ? "The directory, from the root of the filesystem"
                        : "Its directory, from the root of the filesystem, or its number")
      ->required();
  verb->callback([&line, o, adds] {
    line.action = [o, adds](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(o->filesystem));
      if (adds) return context.change("POST", path_of(*o, "/trees/add"), {{"path", o->tree}});
      return context.change("POST", path_of(*o, "/trees/remove"), named(o->tree));
    };
  });
}

void add_trees(CommandLine& line, CLI::App* quota) {
  CLI::App* noun =
      quota->add_subcommand("tree", "Directories with a quota of their own")->require_subcommand(1);
  add_tree_verb(line, noun, "add", "Count a directory with all that is in it");
  add_tree_verb(line, noun, "rm", "Make a tree a usual directory again; its limits go");
  add_list(line, noun, "ls", "Which trees there are, and what they use", Rows::kTrees);
}

}  // namespace

void add_quota(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("quota", "How much who may use")->require_subcommand(1);
  add_switch(line, noun, "on", "Count what users and groups use, so that there may be limits");
  add_switch(line, noun, "off", "Count no more; limits do not hold then");
  auto o = std::make_shared<QuotaOptions>();
  CLI::App* verb = add_change_verb(line, noun, "set", "Set limits; 0 takes one away");
  add_subject(verb, *o);
  verb->add_option("--bytes", o->bytes, "Hard limit, as 10G");
  verb->add_option("--soft-bytes", o->soft_bytes, "Soft limit, as 8G");
  verb->add_option("--inodes", o->inodes, "Hard limit of files and directories");
  verb->add_option("--soft-inodes", o->soft_inodes, "Soft limit of files and directories");
  verb->add_option("--grace", o->grace, "Seconds above the soft limit of bytes (7 days)");
  verb->add_option("--inode-grace", o->inode_grace, "The same for inodes");
  verb->callback([&line, o] { line.action = [o](Context& context) { return set(context, *o); }; });
  auto gone = std::make_shared<QuotaOptions>();
  verb = add_change_verb(line, noun, "rm", "Take all limits of one away");
  add_subject(verb, *gone);
  verb->callback([&line, gone] {
    line.action = [gone](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(gone->filesystem));
      SYMNAS_ASSIGN(const json body, subject_of(*gone));
      return context.change("POST", path_of(*gone, "/remove"), body);
    };
  });
  add_list(line, noun, "ls", "Who has limits, and what they use", Rows::kLimited);
  add_list(line, noun, "report", "What every user, group and tree uses", Rows::kAll);
  add_trees(line, noun);
}

}  // namespace symnas::vnfsd::ctl
