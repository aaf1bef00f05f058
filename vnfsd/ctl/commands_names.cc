// symnas complete-names: what completion asks (completion.cc). Hidden.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/value_kinds.h"

namespace symnas::vnfsd::ctl {
namespace {

// Who presses TAB does not wait for long; vnfsd answers in milliseconds if etcd does.
constexpr int kNamesWaitS = 1;

// Names are words that a shell takes as they are (vnfsd/names/names.h); others are left out.
bool is_plain(const std::string& name) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.find_first_not_of(kPlain) == std::string::npos;
}

Status print_names(Context& context, const std::string& kind) {
  context.client.wait_at_most(kNamesWaitS);
  const auto rows = rows_of(context, kind);
  if (!rows) return {};  // a completion says nothing
  for (const nlohmann::json& row : *rows) {
    const std::string name = row.value("name", "");
    if (is_plain(name)) context.out << name << "\n";
  }
  return {};
}

}  // namespace

void add_complete_names(CommandLine& line) {
  auto kind = std::make_shared<std::string>();
  CLI::App* verb = line.app.add_subcommand("complete-names", "Names of one kind, a line each");
  verb->group("");
  verb->add_option("KIND", *kind, "Of what")->required()->check(CLI::IsMember(name_kinds()));
  verb->callback([&line, kind] {
    line.action = [kind](Context& context) { return print_names(context, *kind); };
  });
}

}  // namespace symnas::vnfsd::ctl
