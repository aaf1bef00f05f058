// symnas vnfs keytab.
#include <iostream>
#include <iterator>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/names/base64.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct Options {
  std::string name, file, owner_domain;
  CLI::Option* domain_given = nullptr;
};

// A keytab is never an argument: others can see those.
Result<std::string> keytab_in(const std::string& file) {
  if (file != "-") return instance::read_file(file);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

Status set(Context& context, const Options& o) {
  SYMNAS_TRY(check_path_name(o.name));
  SYMNAS_ASSIGN(const std::string file, keytab_in(o.file));
  json body = {{"keytab", to_base64(file)}};
  if (o.domain_given->count() != 0) body["owner_domain"] = o.owner_domain;
  return context.change("POST", "/v1/vnfs/" + o.name + "/keytab", body);
}

Status show(Context& context, const Options& o) {
  SYMNAS_ASSIGN(const json rows, rows_of(context, "vnfs"));
  const json vnfs = row_of(rows, o.name);
  if (vnfs.is_null()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("vnfs {}: does not exist (symnas vnfs ls shows what does)", o.name));
  }
  json keys = vnfs.value("keytab", json::array());
  for (json& key : keys) key["owner_domain"] = vnfs.value("owner_domain", "");
  return context.print({{"keytab", std::move(keys)}}, "keytab",
                       {plain("PRINCIPAL", "principal"), plain("KVNO", "kvno"),
                        plain("ENCTYPE", "enctype"), plain("OWNERS OF", "owner_domain")});
}

}  // namespace

void add_vnfs_keytab(CommandLine& line, CLI::App* vnfs) {
  CLI::App* noun = vnfs->add_subcommand("keytab", "With which keys a VNFS takes Kerberos")
                       ->require_subcommand(1);
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_change_verb(line, noun, "set", "Give a VNFS a keytab, also while it serves");
  verb->add_option("VNFS", o->name, "Name of the VNFS")->required();
  verb->add_option("--file", o->file, "The keytab of nfs/VNFS.DOMAIN; - reads it from the input")
      ->required();
  o->domain_given = verb->add_option(
      "--owner-domain", o->owner_domain,
      "Domain of owners that NFSv4 clients name (idmapd.conf); '': the realm in lower case");
  verb->callback([&line, o] { line.action = [o](Context& context) { return set(context, *o); }; });
  auto shown = std::make_shared<Options>();
  CLI::App* look =
      noun->add_subcommand("show", "Its principals, kvnos, enctypes and domain; never a key");
  look->add_option("VNFS", shown->name, "Name of the VNFS")->required();
  look->callback([&line, shown] { line.action = [shown](Context& c) { return show(c, *shown); }; });
  auto removed = std::make_shared<Options>();
  CLI::App* remove = add_change_verb(line, noun, "rm", "Take the keytab of a VNFS away");
  remove->add_option("VNFS", removed->name, "Name of the VNFS")->required();
  remove->callback([&line, removed] {
    line.action = [removed](Context& context) -> Status {
      SYMNAS_TRY(check_path_name(removed->name));
      return context.change("DELETE", "/v1/vnfs/" + removed->name + "/keytab", {});
    };
  });
}

}  // namespace symnas::vnfsd::ctl
