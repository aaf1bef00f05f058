#include "fsal_cluster/load/load_report.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

namespace symnas::fs {
namespace {

using nlohmann::json;

json document_of(const LoadOperations& operations) {
  json out = json::object();
  for (const auto& [operation, c] : operations) {
    out[text_of(operation)] = {c.requests,      c.errors,  c.bytes_read,
                               c.bytes_written, c.time_ns, c.worst_ns};
  }
  return out;
}

// Throws what nlohmann::json throws.
LoadOperations operations_from_document(const json& document) {
  LoadOperations out;
  for (const auto& [text, c] : document.items()) {
    const auto operation = operation_from(text);
    if (!operation) continue;
    out[*operation] = {c.at(0).get<std::uint64_t>(), c.at(1).get<std::uint64_t>(),
                       c.at(2).get<std::uint64_t>(), c.at(3).get<std::uint64_t>(),
                       c.at(4).get<std::uint64_t>(), c.at(5).get<std::uint64_t>()};
  }
  return out;
}

LoadReport report_from(const json& document) {
  LoadReport out;
  for (const json& row : document.at("rows")) {
    out.rows.push_back({row.at("client").get<std::string>(), row.at("export").get<std::uint16_t>(),
                        row.at("serial").get<std::uint64_t>(),
                        operations_from_document(row.at("operations"))});
  }
  for (const json& one : document.at("others")) {
    out.others[one.at("export").get<std::uint16_t>()] =
        operations_from_document(one.at("operations"));
  }
  for (const json& one : document.at("times")) {
    const auto operation = operation_from(one.at("operation").get<std::string>());
    if (!operation) continue;
    out.times[{one.at("export").get<std::uint16_t>(), *operation}] =
        one.at("requests").get<LoadTimes>();
  }
  return out;
}

}  // namespace

void LoadCounters::add(const LoadCounters& more) {
  requests += more.requests;
  errors += more.errors;
  bytes_read += more.bytes_read;
  bytes_written += more.bytes_written;
  time_ns += more.time_ns;
  worst_ns = std::max(worst_ns, more.worst_ns);
}

LoadCounters LoadCounters::since(const LoadCounters& before) const {
  return {requests - before.requests,     errors - before.errors,
          bytes_read - before.bytes_read, bytes_written - before.bytes_written,
          time_ns - before.time_ns,       worst_ns};
}

json load_document(const LoadReport& report) {
  json rows = json::array();
  for (const LoadRow& row : report.rows) {
    rows.push_back({{"client", row.client},
                    {"export", row.export_id},
                    {"serial", row.serial},
                    {"operations", document_of(row.operations)}});
  }
  json others = json::array();
  for (const auto& [id, operations] : report.others)
    others.push_back({{"export", id}, {"operations", document_of(operations)}});
  json times = json::array();
  for (const auto& [key, requests] : report.times) {
    times.push_back(
        {{"export", key.first}, {"operation", text_of(key.second)}, {"requests", requests}});
  }
  return {{"rows", rows}, {"others", others}, {"times", times}};
}

Result<LoadReport> parse_load(const json& document) {
  try {
    return report_from(document);
  } catch (const json::exception& error) {
    return fail(ErrorCode::kCorrupt, std::string("load: ") + error.what());
  }
}

}  // namespace symnas::fs
