#include "fsal_cluster/check/check.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "fsal_cluster/check/checker.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/check/paths.h"
#include "fsal_cluster/check/view.h"

namespace symnas::fs::check {
namespace {

struct Look {
  Report report;
  bool all_passing = false;  // and there is something
};

Result<Look> look_once(kv::Store& store, const std::string& name, const Told& told,
                       std::size_t findings_max) {
  SYMNAS_ASSIGN(View view, View::open(store, name));
  Checker checker(view.context(), findings_max);
  const std::vector<kv::KeyRange> tables = ranges_in_order(view.context().fs());
  Reading reading;
  for (std::size_t table = 0; table < tables.size(); ++table) {
    reading.share = static_cast<double>(table) / static_cast<double>(tables.size());
    const auto take = [&](const kv::KeyValue& kv) {
      ++reading.records;
      checker.take(kv);
    };
    SYMNAS_TRY(view.read(tables[table], take, [&] { return told ? told(reading) : Status(); }));
  }
  checker.finish();
  Look look;
  Report& report = look.report;
  report.filesystem = name;
  report.context = view.context();
  report.highest_ino = checker.highest_ino();
  report.revision = view.revision();
  report.summary = checker.summary();
  report.volume_blocks = view.context().volume_blocks;
  report.block_bytes = view.context().filesystem.block_bytes();
  report.total = checker.findings().total();
  report.findings = checker.findings().kept();
  std::vector<Ino> inos;
  for (const Finding& finding : report.findings) {
    if (finding.ino == Ino{0}) continue;
    inos.push_back(finding.ino);
    if (finding.damage.fault == Fault::kTwoOwners) inos.push_back(Ino{finding.damage.other});
    if (const auto at = checker.name_of(finding.ino))
      report.names[finding.ino.value()] = {at->directory, at->hash};
  }
  SYMNAS_ASSIGN(report.paths, paths_of(view, checker, inos));
  look.all_passing =
      checker.findings().total() > 0 && checker.findings().passing() == checker.findings().total();
  return look;
}

Result<Look> look(kv::Store& store, const std::string& name, const Told& told,
                  std::size_t findings_max) {
  for (int attempt = 1;; ++attempt) {
    auto done = look_once(store, name, told, findings_max);
    if (done || done.error().code != ErrorCode::kCompacted) return done;
    if (attempt < kCompactedMax) continue;
    return fail(ErrorCode::kCompacted,
                fmt::format("fs {}: etcd discards its history faster than the check reads (look at "
                            "compact_keep_revisions in vnfsd.toml)",
                            name));
  }
}

// Keeps the findings of both looks. A passing finding is compared by its text, which names the
// mount or the inode.
void keep_common(Report& report, const Report& before) {
  std::erase_if(report.findings, [&](const Finding& finding) {
    return finding.passing &&
           std::none_of(before.findings.begin(), before.findings.end(), [&](const Finding& old) {
             return old.ino == finding.ino && old.text == finding.text;
           });
  });
}

}  // namespace

std::string Report::line(const Finding& finding) const {
  if (finding.ino == Ino{0}) return finding.text;
  const auto path = paths.find(finding.ino.value());
  if (path == paths.end()) return fmt::format("inode {}: {}", finding.ino.value(), finding.text);
  return fmt::format("{} (inode {}): {}", path->second, finding.ino.value(), finding.text);
}

Result<Report> check_filesystem(kv::Store& store, const std::string& name,
                                const std::function<void()>& pause, const Told& told,
                                std::size_t findings_max) {
  SYMNAS_ASSIGN(Look current, look(store, name, told, findings_max));
  for (int looks = 1; current.all_passing && looks < kLooksMax; ++looks) {
    pause();
    SYMNAS_ASSIGN(Look next, look(store, name, told, findings_max));
    if (next.all_passing && next.report.total == next.report.findings.size()) {
      keep_common(next.report, current.report);
      next.report.total = next.report.findings.size();
      next.all_passing = next.report.total > 0;
    }
    current = std::move(next);
  }
  return std::move(current.report);
}

}  // namespace symnas::fs::check
