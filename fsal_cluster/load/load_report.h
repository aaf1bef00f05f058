// LoadReport: what an instance was asked to do since it began, by client, export and operation.
// Value types. As text: docs/formats/instance_load.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "fsal_cluster/load/limits.h"
#include "fsal_cluster/load/operation.h"

namespace symnas::fs {

// Counters only grow, but for worst_ns, which is a maximum.
struct LoadCounters {
  std::uint64_t requests = 0;
  std::uint64_t errors = 0;  // of the requests: answered with another status than OK, or not at all
  std::uint64_t bytes_read = 0;     // data of READ and READ_PLUS
  std::uint64_t bytes_written = 0;  // data of WRITE
  std::uint64_t time_ns = 0;        // from the request's arrival to its answer, summed up
  std::uint64_t worst_ns = 0;

  void add(const LoadCounters& more);
  // What has been counted since `before`, of the same counters; worst_ns stays.
  LoadCounters since(const LoadCounters& before) const;
  friend bool operator==(const LoadCounters&, const LoadCounters&) = default;
};

using LoadOperations = std::map<NfsOperation, LoadCounters>;
// How many requests took how long: by the classes of kLoadTimesUs.
using LoadTimes = std::array<std::uint64_t, kLoadTimeClasses>;

struct LoadRow {
  std::string client;           // "10.0.0.1", "2001:db8::1"
  std::uint16_t export_id = 0;  // 0: the pseudo filesystem, or no export at all
  // Another one when the client has been among the others meanwhile: its counters began anew.
  std::uint64_t serial = 0;
  LoadOperations operations;
};

// Invariant: rows and others together are everything that was counted, exactly.
struct LoadReport {
  std::vector<LoadRow> rows;  // in no order; at most kLoadPairsMax
  // Of clients that have no row (any more), by export.
  std::map<std::uint16_t, LoadOperations> others;
  // Of all clients, by export.
  std::map<std::pair<std::uint16_t, NfsOperation>, LoadTimes> times;
};

nlohmann::json load_document(const LoadReport& report);
// The reverse. Operations that this version does not know are left out. Errors: kCorrupt.
Result<LoadReport> parse_load(const nlohmann::json& document);

}  // namespace symnas::fs
