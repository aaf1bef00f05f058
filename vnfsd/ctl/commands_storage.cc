// symnas network, lun, volume, fs.
#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/commands_scrub.h"
#include "vnfsd/names/byte_size.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

// "LUN0=/path". Errors: kInvalidArgument.
Result<json> import_body(const std::vector<std::string>& pairs,
                         const std::vector<std::string>& forced) {
  json luns = json::array();
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("lun import: '{}': write it as NAME=/path/of/device", pair));
    }
    const std::string name = pair.substr(0, equals);
    const bool force = std::find(forced.begin(), forced.end(), name) != forced.end();
    luns.push_back({{"name", name}, {"path", pair.substr(equals + 1)}, {"force", force}});
  }
  for (const std::string& name : forced) {
    if (std::none_of(luns.begin(), luns.end(), [&](const json& l) { return l["name"] == name; })) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("lun import: --force {}: no LUN of that name is being imported", name));
    }
  }
  return json{{"luns", luns}};
}

Result<std::uint32_t> octal_mode(const std::string& text) {
  std::uint32_t mode = 0;
  for (const char c : text) {
    if (c < '0' || c > '7' || mode > 07777) mode = 0xffffffff;
    if (mode != 0xffffffff) mode = mode * 8 + static_cast<std::uint32_t>(c - '0');
  }
  if (text.empty() || mode > 07777) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("fs create: --mode {}: write it in octal, as 0755", text));
  }
  return mode;
}

Result<json> filesystem_body(const std::string& name, const std::string& volume,
                             const std::string& owner, const std::string& mode) {
  json body = {{"name", name}, {"volume", volume}};
  unsigned uid = 0;
  unsigned gid = 0;
  char rest = 0;
  if (std::sscanf(owner.c_str(), "%u:%u%c", &uid, &gid, &rest) != 2) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("fs create: --owner {}: write it as UID:GID, both numbers", owner));
  }
  body["root_uid"] = uid;
  body["root_gid"] = gid;
  SYMNAS_ASSIGN(body["root_mode"], octal_mode(mode));
  return body;
}

CLI::Option* add_atime(CLI::App* verb, std::string& atime) {
  return verb
      ->add_option("--atime", atime,
                   "relatime: record when a file was read, once a change and a day; off: do not")
      ->check(CLI::IsMember({"relatime", "off"}));
}

}  // namespace

void add_network(CommandLine& line) {
  CLI::App* noun =
      line.app.add_subcommand("network", "Networks that VIPs live in")->require_subcommand(1);
  struct Options {
    std::string name, device, gateway;
    std::uint64_t mtu = 0;
  };
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "create", "Name the device of a network");
  verb->add_option("NAME", o->name, "Name of the network")->required();
  verb->add_option("--device", o->device, "Network device, the same on every head")->required();
  verb->add_option("--mtu", o->mtu, "MTU of the VIPs' links; 0: the device's");
  verb->add_option("--gateway", o->gateway,
                   "Router for clients outside it; of each family one, with a comma");
  verb->callback([&line, o] {
    line.action = [o](Context& context) {
      return context.change(
          "POST", "/v1/networks",
          {{"name", o->name}, {"device", o->device}, {"mtu", o->mtu}, {"gateway", o->gateway}});
    };
  });
  add_list_verb(line, noun, "networks",
                {plain("NAME", "name"), plain("DEVICE", "device"), plain("MTU", "mtu"),
                 plain("GATEWAY", "gateway")});
  add_remove_verb(line, noun, "rm", "networks", "Remove a network that no VNFS uses");
}

namespace {

std::string what_is_there(const json& device) {
  std::string what = device.value("what", "");
  const auto add = [&](const std::string& more) { what += (what.empty() ? "" : "; ") + more; };
  if (device.value("partition", false)) add("a partition");
  const std::string same = device.value("same_as", "");
  if (!same.empty()) add("the same LUN as " + same);
  return what.empty() ? "-" : what;
}

void add_scan(CommandLine& line, CLI::App* noun) {
  auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* verb =
      noun->add_subcommand("scan", "Devices that could be imported, and what is on them");
  verb->add_option("PATH", *paths, "Devices, directories or globs; none: lun_paths of vnfsd.toml");
  verb->callback([&line, paths] {
    line.action = [paths](Context& context) -> Status {
      SYMNAS_ASSIGN(const json document,
                    context.client.request("POST", "/v1/lun-scan", {{"paths", *paths}}));
      return context.print(
          document, "devices",
          {plain("PATH", "path"), size("SIZE", "size_bytes"), plain("BLOCK", "logical_block_bytes"),
           plain("STATE", "state"), Column{"WHAT", what_is_there}, plain("SEEN BY", "heads")});
    };
  });
}

}  // namespace

void add_lun(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("lun", "Shared block devices")->require_subcommand(1);
  struct Options {
    std::vector<std::string> pairs, forced;
  };
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "import", "Label devices as LUNs of this cluster");
  verb->add_option("LUN", o->pairs, "NAME=PATH of each: its name and device")->required();
  verb->add_option("--force", o->forced,
                   "Import this LUN although the device holds something (may be repeated); "
                   "what it holds is destroyed")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->callback([&line, o] {
    line.action = [o](Context& context) -> Status {
      SYMNAS_ASSIGN(const json body, import_body(o->pairs, o->forced));
      return context.change("POST", "/v1/luns", body);
    };
  });
  add_list_verb(
      line, noun, "luns",
      {plain("NAME", "name"), size("SIZE", "size_bytes"), plain("BLOCK", "logical_block_bytes"),
       plain("VOLUME", "volume"), plain("UUID", "uuid")});
  add_scan(line, noun);
  add_lun_scrub(line, noun);
  struct Release {
    std::string name;
    bool forget = false;
  };
  auto release = std::make_shared<Release>();
  verb = add_change_verb(line, noun, "release", "Erase the label of a LUN that no volume uses");
  verb->add_option("NAME", release->name, "Name")->required();
  verb->add_flag("--forget", release->forget,
                 "It is gone for ever: forget it, and leave its label as it is");
  verb->callback([&line, release] {
    line.action = [release](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(release->name));
      return context.change("DELETE", "/v1/luns/" + release->name, {},
                            release->forget ? "forget=true" : "");
    };
  });
}

void add_volume(CommandLine& line) {
  CLI::App* noun =
      line.app.add_subcommand("volume", "LUNs striped together")->require_subcommand(1);
  struct Options {
    std::string name;
    std::string stripe_unit = "1M";
    std::vector<std::string> luns;
  };
  auto o = std::make_shared<Options>();
  const auto add_common = [&](CLI::App* verb) {
    verb->add_option("NAME", o->name, "Name of the volume")->required();
    verb->add_option("--luns", o->luns, "LUNs in stripe order, separated by commas")
        ->required()
        ->delimiter(',');
  };
  CLI::App* verb = add_change_verb(line, noun, "create", "Stripe free LUNs into a volume");
  add_common(verb);
  verb->add_option("--stripe-unit", o->stripe_unit, "Power of two from 64K to 16M")
      ->capture_default_str();
  verb->callback([&line, o] {
    line.action = [o](Context& context) -> Status {
      SYMNAS_ASSIGN(const std::uint64_t unit, parse_byte_size(o->stripe_unit));
      return context.change("POST", "/v1/volumes",
                            {{"name", o->name}, {"luns", o->luns}, {"stripe_unit_bytes", unit}});
    };
  });
  verb = add_change_verb(line, noun, "grow", "Add LUNs to a volume while it is in use");
  add_common(verb);
  verb->callback([&line, o] {
    line.action = [o](Context& context) {
      return context.change("POST", "/v1/volumes/" + o->name + "/grow", {{"luns", o->luns}});
    };
  });
  add_list_verb(
      line, noun, "volumes",
      {plain("NAME", "name"), size("SIZE", "size_bytes"), exact_size("STRIPE", "stripe_unit_bytes"),
       plain("SEGMENTS", "segments"), plain("LUNS", "luns"), plain("FILESYSTEMS", "filesystems")});
  add_remove_verb(line, noun, "rm", "volumes", "Remove a volume without filesystem");
}

void add_filesystem(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("fs", "Filesystems")->require_subcommand(1);
  struct Options {
    std::string name, volume;
    std::string owner = "0:0";
    std::string mode = "0755";
    std::string atime;
    std::string acls;
  };
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "create", "Make a filesystem on a volume");
  verb->add_option("NAME", o->name, "Name of the filesystem")->required();
  verb->add_option("--volume", o->volume, "The volume that holds its data")->required();
  verb->add_option("--owner", o->owner, "UID:GID of its root directory")->capture_default_str();
  verb->add_option("--mode", o->mode, "Permissions of its root directory")->capture_default_str();
  add_atime(verb, o->atime);
  verb->callback([&line, o] {
    line.action = [o](Context& context) -> Status {
      SYMNAS_ASSIGN(json body, filesystem_body(o->name, o->volume, o->owner, o->mode));
      if (!o->atime.empty()) body["atime"] = o->atime;
      return context.change("POST", "/v1/filesystems", body);
    };
  });
  auto edit = std::make_shared<Options>();
  CLI::App* set = add_change_verb(line, noun, "set", "Change how a filesystem is kept");
  set->add_option("NAME", edit->name, "Name of the filesystem")->required();
  add_atime(set, edit->atime);
  set->add_option("--acls", edit->acls, "on: ACLs and extended attributes may be set")
      ->check(CLI::IsMember({"on"}));
  set->callback([&line, edit] {
    line.action = [edit](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(edit->name));
      json body = json::object();
      if (!edit->atime.empty()) body["atime"] = edit->atime;
      if (!edit->acls.empty()) body["acls"] = edit->acls;
      return context.change("POST", "/v1/filesystems/" + edit->name + "/set", body);
    };
  });
  add_list_verb(line, noun, "filesystems",
                {plain("NAME", "name"), plain("FSID", "fsid"), plain("VOLUME", "volume"),
                 plain("ATIME", "atime"), plain("ACLS", "acls"), plain("EXPORTS", "exports")});
  add_remove_verb(line, noun, "rm", "filesystems", "Remove a filesystem and everything in it");
  add_inspection(line, noun);
}

}  // namespace symnas::vnfsd::ctl
