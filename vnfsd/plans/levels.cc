#include "vnfsd/plans/levels.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/plans/security.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd {
namespace {

std::uint32_t level_of(const ClusterView& view) { return level::of(view.cluster.record.level()); }

// "0.1.0", or what is known of a version that does not say its name.
std::string version_text(const std::string& version) {
  return version.empty() ? "an earlier version" : "version " + version;
}

}  // namespace

Status check_level(const ClusterView& view, const std::string& version) {
  if (level_of(view) <= level::kOwn) return {};
  return fail(ErrorCode::kNotSupported,
              fmt::format("cluster {}: has records of level {}, and version {} knows those up to "
                          "level {} (install the version of the other heads: symnas head ls)",
                          view.cluster.record.name(), level_of(view), version, level::kOwn));
}

Status needs_level(const ClusterView& view, std::uint32_t level, const std::string& what) {
  if (level_of(view) >= level) return {};
  return fail(ErrorCode::kNotSupported,
              fmt::format("{}: heads of earlier versions would not know it (upgrade them all, then "
                          "symnas cluster raise-level)",
                          what));
}

Status check_export_level(const ClusterView& view, const records::ExportRecord& exported) {
  if (uses_kerberos(exported)) {
    SYMNAS_TRY(needs_level(view, level::kKerberos, fmt::format("export {}: sec", exported.name())));
  }
  const bool needs = !exported.rules().empty() || exported.has_anon_uid() ||
                     exported.has_anon_gid() || exported.manage_gids();
  if (!needs) return {};
  return needs_level(view, level::kExportRules,
                     fmt::format("export {}: --client, --anon and --manage-gids", exported.name()));
}

std::uint32_t possible_level(const ClusterView& view) {
  std::uint32_t lowest = level::kOwn;
  for (const auto& [name, head] : view.heads) lowest = std::min(lowest, level::of(head.record));
  for (const auto& [vnfs, owner] : view.owners)
    lowest = std::min(lowest, level::of(owner.record.level()));
  return lowest;
}

Result<Change> plan_level_raise(const ClusterView& view) {
  if (level_of(view) >= level::kOwn) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("cluster: has level {} already, the highest that this version knows",
                            level_of(view)));
  }
  Change change;
  change.level = level::kOwn;
  change.what = fmt::format("cluster: level {}, was {}: earlier versions are not admitted any more",
                            level::kOwn, level_of(view));
  for (const auto& [name, head] : view.heads) {
    if (level::of(head.record) < level::kOwn) {
      return fail(ErrorCode::kBusy,
                  fmt::format("head {}: has run {} last (upgrade its packages and start its vnfsd, "
                              "or remove it: symnas head rm {})",
                              name, version_text(head.record.version()), name));
    }
  }
  for (const auto& [vnfs, owner] : view.owners) {
    if (level::of(owner.record.level()) < level::kOwn) {
      return fail(ErrorCode::kBusy,
                  fmt::format("vnfs {}: its instance on {} is of {} (symnas head upgrade {})", vnfs,
                              owner.record.head(), version_text(owner.record.version()),
                              owner.record.head()));
    }
  }
  // Also those that come meanwhile.
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kHeads));
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kOwners));
  return change;
}

}  // namespace symnas::vnfsd
