#include "vnfsd/ctl/context.h"

#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {

using nlohmann::json;

Status Context::change(const std::string& method, const std::string& path, const json& body,
                       std::string query) {
  if (mode == Mode::kDryRun) query += query.empty() ? "dry_run=true" : "&dry_run=true";
  if (!query.empty()) query = "?" + query;
  SYMNAS_ASSIGN(const json document, client.request(method, path + query, body));
  print_done(document);
  return {};
}

Status Context::list(const std::string& collection, const std::vector<Column>& columns) {
  SYMNAS_ASSIGN(const json document, client.request("GET", "/v1/" + collection, {}));
  return print(document, collection, columns);
}

Status Context::print(const json& document, const std::string& key,
                      const std::vector<Column>& columns) {
  if (output == Output::kJson) {
    out << document.dump(2) << "\n";
  } else {
    out << render_table(columns, document.value(key, json::array()), paint);
  }
  return {};
}

void Context::print_done(const json& document) {
  if (output == Output::kJson) {
    json shown = {{"done", document.value("done", json::array())},
                  {"dry_run", mode == Mode::kDryRun}};
    out << shown.dump(2) << "\n";
    return;
  }
  for (const json& line : document.value("done", json::array())) {
    out << (mode == Mode::kDryRun ? "dry run: " : "") << line.get<std::string>() << "\n";
  }
}

void Context::print_done(const std::string& what) {
  print_done(json{{"done", json::array({what})}});
}

}  // namespace symnas::vnfsd::ctl
