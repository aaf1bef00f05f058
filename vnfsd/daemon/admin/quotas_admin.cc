#include "vnfsd/daemon/admin/quotas_admin.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/api/quotas.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd::daemon {
namespace {

fs::Doing doing(Mode mode) {
  return mode == Mode::kCommit ? fs::Doing::kChange : fs::Doing::kCheck;
}

// What was done, for the caller and the log.
std::string told(Mode mode, std::string what) {
  if (mode == Mode::kCommit) log::info("by an administrator: {}", what);
  return what;
}

}  // namespace

Result<nlohmann::json> QuotasAdmin::quotas(const std::string& filesystem) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* found, find(view.filesystems, "fs", filesystem));
  SYMNAS_ASSIGN(const fs::QuotaReport report,
                fs::read_quotas(head_.store, FsId{found->record.fsid()}));
  return api::quotas_document(filesystem, found->record.block_bytes(), report,
                              head_.clock.wall_ns());
}

Result<std::string> QuotasAdmin::switch_quotas(const std::string& filesystem, fs::QuotaSwitch to,
                                               Mode mode) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* found, find(view.filesystems, "fs", filesystem));
  const bool on = to == fs::QuotaSwitch::kOn;
  if (on) SYMNAS_TRY(needs_level(view, level::kQuotas, fmt::format("fs {}: quotas", filesystem)));
  const std::string what =
      on ? fmt::format(
               "fs {}: usage is being counted by the heads that serve it; limits hold when "
               "symnas quota ls {} says on",
               filesystem, filesystem)
         : fmt::format("fs {}: usage is not counted any more, limits do not hold", filesystem);
  if (mode == Mode::kDryRun) return what;
  SYMNAS_ASSIGN(const bool changed, fs::switch_quotas(head_.store, FsId{found->record.fsid()}, to));
  if (!changed) return fmt::format("fs {}: quotas are {} already", filesystem, on ? "on" : "off");
  return told(mode, what);
}

Result<std::string> QuotasAdmin::set_quota(const std::string& filesystem,
                                           const api::QuotaRequest& request, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* found, find(view.filesystems, "fs", filesystem));
  const FsId fs{found->record.fsid()};
  const std::string what =
      fmt::format("fs {}: limits of {} set", filesystem, fs::to_string(request.subject));
  SYMNAS_TRY(fs::set_limit(head_.store, fs, request.subject, request.edit, doing(mode)));
  return told(mode, what);
}

Result<std::string> QuotasAdmin::remove_quota(const std::string& filesystem,
                                              const fs::Subject& subject, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* found, find(view.filesystems, "fs", filesystem));
  const FsId fs{found->record.fsid()};
  SYMNAS_TRY(fs::remove_limit(head_.store, fs, subject, doing(mode)));
  return told(mode,
              fmt::format("fs {}: {} has no limit any more", filesystem, fs::to_string(subject)));
}

}  // namespace symnas::vnfsd::daemon
