#include "vnfsd/ctl/top_rows.h"

#include <algorithm>
#include <array>
#include <map>

#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kSummedUp = {"requests_per_s", "errors_per_s",
                                                  "read_bytes_per_s", "written_bytes_per_s"};

struct Sum {
  std::array<double, kSummedUp.size()> values{};
  double time_us = 0;  // per second
  std::uint64_t worst_us = 0;

  double requests() const { return values[0]; }
  double bytes() const { return values[2] + values[3]; }
  double mean_us() const { return requests() == 0 ? 0 : time_us / requests(); }
  double key(TopOrder order) const {
    switch (order) {
      case TopOrder::kRequests: return requests();
      case TopOrder::kBytes: return bytes();
      case TopOrder::kLatency: return mean_us();
    }
    return 0;
  }
};

double share(double part, double all) { return all == 0 ? 0 : part / all; }

}  // namespace

json top_rows(const json& load, const std::vector<std::string>& by, TopOrder order) {
  std::map<std::vector<std::string>, Sum> sums;
  Sum all;
  for (const json& row : load.value("rows", json::array())) {
    std::vector<std::string> key;
    for (const std::string& member : by) key.push_back(row.value(member, ""));
    Sum& sum = sums[key];
    for (std::size_t i = 0; i < kSummedUp.size(); ++i) {
      const double value = row.value(kSummedUp[i], 0.0);
      sum.values[i] += value;
      all.values[i] += value;
    }
    sum.time_us += row.value("mean_us", 0.0) * row.value("requests_per_s", 0.0);
    sum.worst_us = std::max(sum.worst_us, row.value("worst_us", std::uint64_t{0}));
  }
  std::vector<std::pair<std::vector<std::string>, Sum>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, [&](const auto& a, const auto& b) {
    return a.second.key(order) > b.second.key(order);
  });
  json rows = json::array();
  for (const auto& [key, sum] : sorted) {
    json& row = rows.emplace_back(json::object());
    for (std::size_t i = 0; i < by.size(); ++i) row[by[i]] = key[i];
    for (std::size_t i = 0; i < kSummedUp.size(); ++i) row[kSummedUp[i]] = sum.values[i];
    row["mean_us"] = static_cast<std::uint64_t>(sum.mean_us());
    row["worst_us"] = sum.worst_us;
    row["requests_share"] = share(sum.requests(), all.requests());
    row["bytes_share"] = share(sum.bytes(), all.bytes());
  }
  return rows;
}

}  // namespace symnas::vnfsd::ctl
