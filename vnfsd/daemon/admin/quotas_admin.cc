#include "vnfsd/daemon/admin/quotas_admin.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "fsal_cluster/check/dump.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/view.h"
#include "fsal_cluster/quota/tree_admin.h"
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

// The directory's inode; `path` becomes what is shown of it: printable, one slash between two
// names.
Result<Ino> directory_at(kv::Store& store, const std::string& filesystem, std::string& path) {
  SYMNAS_ASSIGN(fs::check::View view, fs::check::View::open(store, filesystem));
  SYMNAS_ASSIGN(const Ino ino, fs::check::resolve(view, path));
  const auto doubled = [](char a, char b) { return a == '/' && b == '/'; };
  path.erase(std::unique(path.begin(), path.end(), doubled), path.end());
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  path = fs::check::printable(path);
  return ino;
}

// The subject of a request: a tree that is named by its directory is looked up.
Result<fs::Subject> subject_of(kv::Store& store, const std::string& filesystem, FsId fs,
                               const api::QuotaRequest& request) {
  if (request.path.empty()) return request.subject;
  std::string path = request.path;
  SYMNAS_ASSIGN(const Ino ino, directory_at(store, filesystem, path));
  SYMNAS_ASSIGN(const std::uint32_t tree, fs::find_tree(store, fs, ino, path));
  return fs::Subject{fs::SubjectKind::kTree, tree};
}

std::string name_of(const fs::Subject& subject, const std::string& path) {
  return fs::to_string(subject) + (path.empty() ? "" : " (" + fs::check::printable(path) + ")");
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
  SYMNAS_ASSIGN(const fs::Subject subject, subject_of(head_.store, filesystem, fs, request));
  std::string what =
      fmt::format("fs {}: limits of {} set", filesystem, name_of(subject, request.path));
  if (subject.kind == fs::SubjectKind::kTree)
    what += fmt::format("; they hold when symnas quota ls {} does not say that it is marking",
                        filesystem);
  SYMNAS_TRY(fs::set_limit(head_.store, fs, subject, request.edit, doing(mode)));
  return told(mode, what);
}

Result<std::string> QuotasAdmin::remove_quota(const std::string& filesystem,
                                              const api::QuotaRequest& request, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* found, find(view.filesystems, "fs", filesystem));
  const FsId fs{found->record.fsid()};
  SYMNAS_ASSIGN(const fs::Subject subject, subject_of(head_.store, filesystem, fs, request));
  SYMNAS_TRY(fs::remove_limit(head_.store, fs, subject, doing(mode)));
  return told(mode, fmt::format("fs {}: {} has no limit any more", filesystem,
                                name_of(subject, request.path)));
}

Result<std::string> QuotasAdmin::add_quota_tree(const std::string& filesystem,
                                                const std::string& path, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* found, find(view.filesystems, "fs", filesystem));
  const FsId fs{found->record.fsid()};
  std::string root = path;
  SYMNAS_ASSIGN(const Ino ino, directory_at(head_.store, filesystem, root));
  SYMNAS_ASSIGN(const std::uint32_t tree, fs::add_tree(head_.store, fs, ino, root, doing(mode)));
  return told(mode,
              fmt::format("fs {}: {} is tree {}; what is in it is being marked by the heads "
                          "that serve the filesystem, symnas quota tree ls {} says when all is",
                          filesystem, root, tree, filesystem));
}

Result<std::string> QuotasAdmin::remove_quota_tree(const std::string& filesystem,
                                                   const api::QuotaRequest& request, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* found, find(view.filesystems, "fs", filesystem));
  const FsId fs{found->record.fsid()};
  SYMNAS_ASSIGN(const fs::Subject tree, subject_of(head_.store, filesystem, fs, request));
  SYMNAS_TRY(fs::remove_tree(head_.store, fs, tree.id, doing(mode)));
  return told(mode, fmt::format("fs {}: {} is no tree any more, its limits are gone", filesystem,
                                name_of(tree, request.path)));
}

}  // namespace symnas::vnfsd::daemon
