// symnas explain.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/error_guide.h"
#include "vnfsd/ctl/exit_code.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

json all_codes() {
  json rows = json::array();
  for (const CodeGuide& one : code_guides()) {
    rows.push_back({{"code", std::string(to_string(one.code))},
                    {"exit_code", exit_code(one.code)},
                    {"meaning", std::string(one.meaning)},
                    {"next", std::string(one.next)}});
  }
  return {{"codes", rows}};
}

Status explain(Context& context, const std::string& code) {
  if (code.empty()) {
    return context.print(
        all_codes(), "codes",
        {plain("CODE", "code"), plain("EXIT", "exit_code"), plain("MEANING", "meaning")});
  }
  SYMNAS_ASSIGN(const std::string text, explain_code(code));
  if (context.output == Output::kJson) {
    context.out << json{{"code", code}, {"text", text}}.dump(2) << "\n";
  } else {
    context.out << text;
  }
  return {};
}

}  // namespace

void add_explain(CommandLine& line) {
  auto code = std::make_shared<std::string>();
  CLI::App* verb = line.app.add_subcommand(
      "explain", "What an error code or exit code means, and what to do; it needs no vnfsd");
  verb->add_option("CODE", *code, "As not_found (-o json shows it) or 3; without it: all codes");
  verb->callback([&line, code] {
    line.action = [code](Context& context) { return explain(context, *code); };
  });
}

}  // namespace symnas::vnfsd::ctl
