#include "vnfsd/instance/numbers.h"

#include <nlohmann/json.hpp>

namespace symnas::vnfsd::instance {

using nlohmann::json;

namespace {

constexpr std::size_t kBoundsMax = 64;  // of any version

}  // namespace

Result<InstanceNumbers> parse_numbers(const json& document) {
  InstanceNumbers out;
  try {
    out.gate_closings = document.at("gate_closings");
    out.tokens_held = document.at("tokens_held");
    out.tokens_granted = document.at("tokens_granted");
    out.token_waits = document.at("token_waits");
    out.tokens_given_back = document.at("tokens_given_back");
    out.quota_refusals = document.value("quota_refusals", std::uint64_t{0});
    out.lock_ranges = document.at("lock_ranges");
    out.etcd_failures = document.at("etcd_failures");
    for (const json& us : document.at("etcd_times_us"))
      out.etcd_bounds_s.push_back(us.get<double>() / 1'000'000);
    out.etcd_tries = document.at("etcd_tries").get<std::vector<std::uint64_t>>();
    out.etcd_sum_s = document.at("etcd_sum_us").get<double>() / 1'000'000;
  } catch (const json::exception& error) {
    return fail(ErrorCode::kCorrupt, std::string("an instance's numbers: ") + error.what());
  }
  if (out.etcd_bounds_s.size() > kBoundsMax ||
      out.etcd_tries.size() != out.etcd_bounds_s.size() + 1) {
    return fail(ErrorCode::kCorrupt, "an instance's numbers: one time more than bounds is wanted");
  }
  return out;
}

}  // namespace symnas::vnfsd::instance
