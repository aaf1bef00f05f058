// Finds LUNs: scan_luns() of lun.h.
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/core.h>

#include "cvm/label_io.h"
#include "cvm/lun.h"
#include "cvm/lun_device.h"

namespace symnas::cvm {
namespace {

namespace stdfs = std::filesystem;

Result<std::set<std::string>> expand(std::span<const std::string> candidates) {
  std::set<std::string> paths;
  const auto add = [&](const std::string& path) {
    std::error_code error;
    if (!stdfs::is_directory(path, error)) {
      paths.insert(path);
      return;
    }
    for (const auto& entry : stdfs::directory_iterator(path, error))
      if (!entry.is_directory(error)) paths.insert(entry.path().string());
  };
  for (const std::string& candidate : candidates) {
    glob_t found{};
    if (::glob(candidate.c_str(), GLOB_NOSORT | GLOB_NOCHECK, nullptr, &found) == 0)
      for (std::size_t i = 0; i < found.gl_pathc; ++i) add(found.gl_pathv[i]);
    ::globfree(&found);
  }
  if (paths.size() > kScanCandidatesMax)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} candidates for LUNs, the most is {}: name the LUNs' paths more "
                            "closely",
                            paths.size(), kScanCandidatesMax));
  return paths;
}

// Each device or file once, whatever its names. Dead links, and anything but devices and files, are
// not candidates.
std::map<std::string, LunNode> resolve(const std::set<std::string>& paths) {
  std::map<std::string, LunNode> nodes;
  for (const std::string& path : paths)
    if (Result<LunNode> node = resolve_lun_node(path)) nodes.emplace(node->path, *node);
  return nodes;
}

void look_at(const Uuid& cluster, const LunNode& node, LunScan& scan) {
  const auto problem = [&](const Error& error) { scan.problems.push_back({node.path, error}); };
  const Result<LunDevice> device = LunDevice::open_node(node, Access::kRead);
  if (!device) {
    // An empty slot (a detached loop device, a card reader without card) has no size: that is not
    // reported.
    if (device.error().code != ErrorCode::kNotFound) problem(device.error());
    return;
  }
  const Result<LabelCopies> copies = read_label(*device);
  if (!copies) {
    if (copies.error().code != ErrorCode::kNotFound) problem(copies.error());
    return;
  }
  if (copies->label.cluster != cluster) return;
  if (Status alone = check_no_alias(node); !alone) {
    problem(alone.error());
    return;
  }
  scan.found.push_back({.label = copies->label,
                        .path = node.path,
                        .needs_repair = copies->first_needs_repair || copies->second_needs_repair});
}

// Only a person can tell which of two devices with one uuid is the LUN and which is a copy (an
// array clone, a copied file).
void refuse_twins(LunScan& scan) {
  std::map<Uuid, std::vector<FoundLun>> by_uuid;
  for (FoundLun& found : scan.found) by_uuid[found.label.lun].push_back(std::move(found));
  scan.found.clear();
  for (auto& [uuid, twins] : by_uuid) {
    if (twins.size() == 1) {
      scan.found.push_back(std::move(twins[0]));
      continue;
    }
    for (const FoundLun& twin : twins) {
      std::string others;
      for (const FoundLun& other : twins)
        if (other.path != twin.path) others += (others.empty() ? "" : ", ") + other.path;
      scan.problems.push_back(
          {twin.path,
           Error{
               ErrorCode::kBusy,
               fmt::format("lun {}: {} and {} carry the same LUN uuid {}; remove or wipe the copy",
                           twin.label.name, twin.path, others, uuid.to_string())}});
    }
  }
}

}  // namespace

Result<std::vector<LunNode>> candidate_nodes(std::span<const std::string> candidates) {
  SYMNAS_ASSIGN(const std::set<std::string> paths, expand(candidates));
  std::vector<LunNode> nodes;
  for (auto& [path, node] : resolve(paths)) nodes.push_back(std::move(node));
  return nodes;
}

Result<LunScan> scan_luns(const Uuid& cluster, std::span<const std::string> candidates) {
  SYMNAS_ASSIGN(const std::set<std::string> paths, expand(candidates));
  LunScan scan;
  for (const auto& [path, node] : resolve(paths)) look_at(cluster, node, scan);
  refuse_twins(scan);
  std::sort(scan.found.begin(), scan.found.end(),
            [](const FoundLun& a, const FoundLun& b) { return a.label.name < b.label.name; });
  return scan;
}

}  // namespace symnas::cvm
