#include "vnfsd/api/load.h"

#include <cmath>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;
using ExportNames = std::map<std::uint32_t, std::string>;

constexpr const char* kOthers = "others";

// To a thousandth: more is noise.
double per_second(std::uint64_t counted, std::uint32_t span_ms) {
  return span_ms == 0 ? 0.0 : std::round(static_cast<double>(counted) * 1e6 / span_ms) / 1e3;
}

std::string export_name(const ExportNames& names, std::uint32_t id) {
  if (id == 0) return "";
  const auto found = names.find(id);
  return found == names.end() ? fmt::format("id {}", id) : found->second;
}

void add_rows(const std::string& head, const records::LoadVnfs& vnfs, const ExportNames& names,
              json& rows) {
  for (const records::LoadClient& client : vnfs.clients()) {
    for (const records::LoadOperation& one : client.operations()) {
      const std::size_t dot = one.operation().find('.');
      if (dot == std::string::npos || one.requests() == 0) continue;
      rows.push_back({{"vnfs", vnfs.vnfs()},
                      {"head", head},
                      {"client", client.client().empty() ? kOthers : client.client()},
                      {"export", export_name(names, client.export_id())},
                      {"protocol", one.operation().substr(0, dot)},
                      {"operation", one.operation().substr(dot + 1)},
                      {"requests_per_s", per_second(one.requests(), vnfs.span_ms())},
                      {"errors_per_s", per_second(one.errors(), vnfs.span_ms())},
                      {"read_bytes_per_s", per_second(one.read_bytes(), vnfs.span_ms())},
                      {"written_bytes_per_s", per_second(one.written_bytes(), vnfs.span_ms())},
                      {"mean_us", one.time_us() / one.requests()},
                      {"worst_us", one.worst_us()}});
    }
  }
}

// The VNFS in what its owner tells; nullptr and why it is not there.
std::pair<const records::LoadVnfs*, std::string> told_of(const ClusterLoad& load,
                                                         const std::string& vnfs,
                                                         const records::OwnerRecord& owner) {
  const auto record = load.told.find(owner.head());
  if (record == load.told.end()) {
    const auto why = load.silent.find(owner.head());
    return {nullptr, why == load.silent.end() ? "the head tells nothing" : why->second};
  }
  for (const records::LoadVnfs& one : record->second.vnfses()) {
    if (one.vnfs() != vnfs || one.epoch() != owner.epoch()) continue;
    if (!one.error().empty()) return {nullptr, one.error()};
    return {&one, ""};
  }
  return {nullptr, "its instance has not been counted yet"};
}

}  // namespace

json load_document(const ClusterView& view, const ClusterLoad& load) {
  ExportNames names;
  for (const auto& [name, one] : view.exports) names[one.record.export_id()] = name;
  json rows = json::array();
  json vnfses = json::array();
  json missing = json::array();
  const auto add = [&](const std::string& head, const records::LoadVnfs& one) {
    vnfses.push_back({{"vnfs", one.vnfs()}, {"head", head}, {"span_ms", one.span_ms()}});
    add_rows(head, one, names, rows);
  };
  if (view.cluster.mod_revision == Revision{}) {
    for (const auto& [head, record] : load.told) {
      for (const records::LoadVnfs& one : record.vnfses()) {
        if (one.error().empty()) {
          add(head, one);
        } else {
          missing.push_back({{"vnfs", one.vnfs()}, {"head", head}, {"why", one.error()}});
        }
      }
    }
    for (const auto& [head, why] : load.silent)
      missing.push_back({{"vnfs", ""}, {"head", head}, {"why", why}});
  }
  for (const auto& [vnfs, owner] : view.owners) {
    const auto [one, why] = told_of(load, vnfs, owner.record);
    if (one != nullptr) {
      add(owner.record.head(), *one);
    } else {
      missing.push_back({{"vnfs", vnfs}, {"head", owner.record.head()}, {"why", why}});
    }
  }
  return {{"vnfses", vnfses}, {"rows", rows}, {"missing", missing}};
}

}  // namespace symnas::vnfsd::api
