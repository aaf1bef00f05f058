#include "vnfsd/api/lun_scan.h"

#include <map>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cvm/volume.h"
#include "vnfsd/api/documents.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

std::string word_of(cvm::Content content) {
  switch (content) {
    case cvm::Content::kNothing: return "free";
    case cvm::Content::kLabel: return "imported";
    case cvm::Content::kDamagedLabel: return "damaged";
    case cvm::Content::kData: return "data";
    case cvm::Content::kInUse: return "in_use";
    case cvm::Content::kTooSmall: return "too_small";
    case cvm::Content::kUnreadable: return "unreadable";
    case cvm::Content::kNoMedium: return "nothing";
  }
  return "unreadable";
}

// A label may come from anywhere: what is no name is not shown on a terminal.
std::string shown_name(const cvm::LunLabel& label) {
  return cvm::check_name("lun", label.name) ? label.name : "with a name that is none";
}

void tell_label(const ClusterView& view, const cvm::LunLabel& label, json& device) {
  const std::string name = shown_name(label);
  device["lun"] = name;
  device["cluster"] = label.cluster.to_string();
  if (cvm::uuid_to_bytes(label.cluster) != view.cluster.record.uuid()) {
    device["state"] = "foreign";
    device["what"] =
        fmt::format("LUN {} of another symnas cluster ({})", name, label.cluster.to_string());
    return;
  }
  const std::string uuid = cvm::uuid_to_bytes(label.lun);
  for (const auto& [recorded, lun] : view.luns) {
    if (lun.record.uuid() != uuid) continue;
    const std::string& volume = lun.record.volume();
    device["lun"] = recorded;
    device["volume"] = volume;
    device["heads"] = heads_that_see(view, uuid);
    device["what"] = fmt::format("LUN {}, {}", recorded,
                                 volume.empty() ? "of no volume" : "of volume " + volume);
    return;
  }
  device["state"] = "forgotten";
  device["what"] = fmt::format("LUN {} of this cluster, which has no record of it", name);
  // As an import or a release that was interrupted leaves it: import takes it under its own name.
  if (label.volume.is_nil() && cvm::check_name("lun", label.name) && !view.luns.contains(name))
    device["import_as"] = name;
}

json device_of(const ClusterView& view, const cvm::SurveyedDevice& seen) {
  json device = {{"path", seen.path},
                 {"kind", seen.kind == cvm::LunKind::kFile ? "file" : "device"},
                 {"partition", seen.is_partition},
                 {"wwid", seen.wwid},
                 {"size_bytes", seen.size_bytes},
                 {"logical_block_bytes", seen.logical_block_bytes},
                 {"state", word_of(seen.content)},
                 {"what", seen.what}};
  if (seen.content == cvm::Content::kNothing) {
    device["blank"] = seen.blank;
    if (!seen.blank) device["what"] = "bytes of no known kind";
  }
  if (seen.label) tell_label(view, *seen.label, device);
  return device;
}

// What tells that two devices are one LUN, or copies of one; "" = nothing.
std::string identity_of(const cvm::SurveyedDevice& seen) {
  if (seen.label) return seen.label->lun.to_string();
  return seen.is_partition ? "" : seen.wwid;
}

}  // namespace

json lun_scan_document(const ClusterView& view, const std::vector<cvm::SurveyedDevice>& devices) {
  json out = json::array();
  std::map<std::string, std::string> first;  // identity -> path
  for (const cvm::SurveyedDevice& seen : devices) {
    json device = device_of(view, seen);
    const std::string identity = identity_of(seen);
    if (!identity.empty()) {
      const auto& [at, is_new] = first.try_emplace(identity, seen.path);
      if (!is_new) device["same_as"] = at->second;
    }
    out.push_back(std::move(device));
  }
  return {{"devices", out}};
}

}  // namespace symnas::vnfsd::api
