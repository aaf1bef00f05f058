// What a running instance has counted (docs/formats/instance_control.md, command `metrics`).
// Thread-safe functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"

namespace symnas::vnfsd::instance {

// Since the instance began, of all its mounts.
struct InstanceNumbers {
  std::uint64_t gate_closings = 0;
  std::int64_t tokens_held = 0;
  std::uint64_t tokens_granted = 0;
  std::uint64_t token_waits = 0;
  std::uint64_t tokens_given_back = 0;
  std::uint64_t quota_refusals = 0;  // of an earlier version: 0
  std::int64_t lock_ranges = 0;
  // Tries of transactions: how many took how long, a number for each bound and one for longer ones.
  std::vector<double> etcd_bounds_s;
  std::vector<std::uint64_t> etcd_tries;
  double etcd_sum_s = 0;
  std::uint64_t etcd_failures = 0;
};

// Parses an answer. Errors: kCorrupt.
Result<InstanceNumbers> parse_numbers(const nlohmann::json& document);
// Asks the instance behind `control`. Errors: kUnavailable (it does not answer within
// kCallTimeoutMs), kInvalidArgument (it is of a version that does not count), kCorrupt.
Result<InstanceNumbers> numbers_of(const std::string& control);

}  // namespace symnas::vnfsd::instance
