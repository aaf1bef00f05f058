// Context: what every symnas command works with: the client of the agent, the streams that output
// goes to, and the form of the output. Thread-compatible.
#pragma once

#include <ostream>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "vnfsd/api/client.h"
#include "vnfsd/ctl/table.h"
#include "vnfsd/names/mode.h"

namespace symnas::vnfsd::ctl {

enum class Output { kTable, kJson };

struct Context {
  api::ApiClient& client;
  std::ostream& out;
  Output output = Output::kTable;
  Mode mode = Mode::kCommit;
  int exit_code = 0;  // of a command that has done its work
  Paint paint = Paint::kPlain;

  // Sends a change; prints what was done. `query`: "key=value", "" = none. Errors: as
  // ApiClient::request().
  Status change(const std::string& method, const std::string& path, const nlohmann::json& body,
                std::string query = "");
  // Gets a collection; prints it as JSON, or its `key` array as a table. Errors: as
  // ApiClient::request().
  Status list(const std::string& collection, const std::vector<Column>& columns);
  // Prints a document as list() does: as JSON, or its `key` array as a table.
  Status print(const nlohmann::json& document, const std::string& key,
               const std::vector<Column>& columns);
  // Prints {"done": [...]} or its lines.
  void print_done(const nlohmann::json& document);
  void print_done(const std::string& what);
};

}  // namespace symnas::vnfsd::ctl
