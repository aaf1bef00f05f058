// symnas ha keepalived generate.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/keepalived_config.h"
#include "vnfsd/names/names.h"
#include "vnfsd/probe/devices.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

// Of this machine, that has the address. Errors: kNotFound.
Result<std::string> interface_of(const std::string& head, const std::string& address) {
  SYMNAS_ASSIGN(const IpAddress wanted, IpAddress::parse(address));
  for (const auto& [name, device] : probe::devices()) {
    for (const Cidr& one : device.addresses) {
      if (one.address == wanted) return name;
    }
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("head {}: no device of this machine has its address {} (--interface "
                          "names the device)",
                          head, address));
}

Status generate(Context& context, KeepalivedWish wish) {
  if (wish.head.empty()) {
    SYMNAS_ASSIGN(const json status, context.client.request("GET", "/v1/status", {}));
    wish.head = status.value("head", "");
  }
  SYMNAS_ASSIGN(const json heads, rows_of(context, "heads"));
  SYMNAS_ASSIGN(const json vnfses, rows_of(context, "vnfs"));
  if (wish.interface.empty()) {
    const json head = row_of(heads, wish.head);
    if (head.is_null())
      return fail(ErrorCode::kNotFound, fmt::format("head {}: there is none", wish.head));
    SYMNAS_ASSIGN(wish.interface, interface_of(wish.head, head.value("address", "")));
  }
  SYMNAS_TRY(check_device_name(wish.interface));
  SYMNAS_ASSIGN(const std::string text, keepalived_config(vnfses, heads, wish));
  context.out << text;
  return {};
}

}  // namespace

void add_ha_keepalived(CommandLine& line, CLI::App* noun) {
  CLI::App* group = noun->add_subcommand("keepalived", "For clusters whose decider is keepalived");
  group->require_subcommand(1);
  auto wish = std::make_shared<KeepalivedWish>();
  CLI::App* verb = group->add_subcommand("generate", "Print keepalived.conf of a head");
  verb->add_option("--head", wish->head, "Name of the head; without it: this one");
  verb->add_option("--interface", wish->interface,
                   "Its device of the management network; without it: the one of this machine that "
                   "has the head's address");
  verb->callback([&line, wish] {
    line.action = [wish](Context& context) { return generate(context, *wish); };
  });
}

}  // namespace symnas::vnfsd::ctl
