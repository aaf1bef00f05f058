#include <map>
#include <string>

#include <fmt/core.h>

#include "vnfsd/metrics/sights.h"

namespace symnas::vnfsd::metrics {
namespace {

// Clients are no labels: there may be any number of them (symnas top).
using ByOperation = std::map<std::pair<std::uint16_t, fs::NfsOperation>, fs::LoadCounters>;

ByOperation sums_of(const fs::LoadReport& report) {
  ByOperation out;
  const auto add = [&](std::uint16_t export_id, const fs::LoadOperations& operations) {
    for (const auto& [operation, counters] : operations) out[{export_id, operation}].add(counters);
  };
  for (const fs::LoadRow& row : report.rows) add(row.export_id, row.operations);
  for (const auto& [export_id, operations] : report.others) add(export_id, operations);
  return out;
}

// "": no export. "#7": one that the records do not know (any more).
std::string name_of(const std::optional<ClusterView>& view, std::uint16_t export_id) {
  if (export_id == 0) return "";
  if (view) {
    for (const auto& [name, stored] : view->exports)
      if (stored.record.export_id() == export_id) return name;
  }
  return fmt::format("#{}", export_id);
}

TimeCounts times_of(const fs::LoadTimes& times, std::uint64_t sum_ns) {
  TimeCounts out;
  for (const std::uint32_t us : fs::kLoadTimesUs) out.bounds_s.push_back(us / 1e6);
  out.counts.assign(times.begin(), times.end());
  out.sum_s = static_cast<double>(sum_ns) / 1e9;
  return out;
}

}  // namespace

void add_load(Page& page, const Sights& sights, const std::string& vnfs,
              const fs::LoadReport& report) {
  const std::string& head = sights.agent.head;
  struct Bytes {
    std::uint64_t read = 0;
    std::uint64_t written = 0;
  };
  std::map<std::uint16_t, Bytes> bytes;
  const ByOperation sums = sums_of(report);
  for (const auto& [key, sum] : sums) {
    const auto& [export_id, operation] = key;
    const std::vector<std::string> labels = {head, vnfs, name_of(sights.heads.view, export_id),
                                             std::string(fs::name_of(operation.protocol)),
                                             std::string(fs::name_of(operation))};
    page.add(kNfsRequests, labels, static_cast<double>(sum.requests));
    page.add(kNfsErrors, labels, static_cast<double>(sum.errors));
    bytes[export_id].read += sum.bytes_read;
    bytes[export_id].written += sum.bytes_written;
    const auto times = report.times.find(key);
    if (times != report.times.end())
      page.add(kNfsRequestDuration, labels, times_of(times->second, sum.time_ns));
  }
  for (const auto& [export_id, sum] : bytes) {
    const std::vector<std::string> labels = {head, vnfs, name_of(sights.heads.view, export_id)};
    page.add(kNfsReadBytes, labels, static_cast<double>(sum.read));
    page.add(kNfsWrittenBytes, labels, static_cast<double>(sum.written));
  }
}

}  // namespace symnas::vnfsd::metrics
