#include "vnfsd/daemon/admin/repair_admin.h"

#include <malloc.h>

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "fsal_cluster/check/check.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/repair/apply.h"
#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/planner.h"
#include "fsal_cluster/repair/repair_log.h"
#include "vnfsd/api/inspection.h"
#include "vnfsd/records/care_events.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;

tl::unexpected<Error> already_working(const std::string& name) {
  return fail(ErrorCode::kBusy,
              fmt::format("fs {}: this head is planning or making a repair already (wait for that, "
                          "or ask another head)",
                          name));
}

}  // namespace

Result<fs::repair::Plan> RepairAdmin::plan(const std::string& filesystem, Progress& progress) {
  const auto pause = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(fs::check::kLookPauseMs));
  };
  const auto told = [&](const fs::check::Reading& reading) -> Status {
    if (progress.is_cancelled()) return cancelled("fs " + filesystem);
    progress.tell(reading.share, fmt::format("{} records read", reading.records));
    return {};
  };
  SYMNAS_ASSIGN(const fs::check::Report report,
                fs::check::check_filesystem(head_.store, filesystem, pause, told,
                                            fs::repair::kPlanFindingsMax));
  ::malloc_trim(0);
  fs::repair::Snapshot snapshot(head_.store, report.revision);
  return fs::repair::plan_repair(report, snapshot, head_.clock.wall_ns());
}

Result<json> RepairAdmin::plan_repair(const std::string& filesystem, Progress& progress) {
  SYMNAS_TRY(reader_.wait_ready());
  if (!work_mutex_.try_lock()) return already_working(filesystem);
  const MutexLock working(work_mutex_, std::adopt_lock);
  SYMNAS_ASSIGN(fs::repair::Plan made, plan(filesystem, progress));
  Kept& kept = kept_[filesystem];
  kept.id = fmt::format("{}-{}", made.revision.value(), head_.clock.mono_ns());
  kept.plan = std::move(made);
  return api::plan_document(kept.plan, kept.id);
}

void RepairAdmin::tell(const std::string& filesystem, std::size_t done, std::size_t changed) {
  if (done + changed == 0) return;
  std::string text = fmt::format("fs {}: {} {} repaired", filesystem, done,
                                 done == 1 ? "finding was" : "findings were");
  if (changed > 0) text += fmt::format(", {} had changed meanwhile and were left alone", changed);
  events_.tell(event::kRepaired, text);
}

Result<json> RepairAdmin::repair(const std::string& filesystem, const std::string& plan,
                                 Progress& progress) {
  SYMNAS_TRY(reader_.wait_ready());
  if (!work_mutex_.try_lock()) return already_working(filesystem);
  const MutexLock working(work_mutex_, std::adopt_lock);
  const auto kept = kept_.find(filesystem);
  if (kept == kept_.end() || kept->second.id != plan)
    return fail(ErrorCode::kConflict,
                fmt::format("fs {}: this head has no plan {} (any more); nothing was done: make "
                            "another plan (symnas fs check {} --repair)",
                            filesystem, plan, filesystem));
  const Kept chosen = std::move(kept->second);
  kept_.erase(kept);
  std::vector<fs::repair::Outcome> outcomes;
  std::size_t done = 0;
  const auto told = [&](const fs::repair::Outcome& outcome) -> Status {
    outcomes.push_back(outcome);
    if (outcome.applied == fs::repair::Applied::kDone) ++done;
    const fs::repair::Step& step = chosen.plan.steps[outcome.step];
    log::warn("fs {}: {}: {}: {}", filesystem, step.object, step.text,
              outcome.applied == fs::repair::Applied::kDone ? "done" : "has changed meanwhile");
    progress.tell(std::nullopt, fmt::format("{} steps done", done));
    return progress.is_cancelled() ? Status(cancelled("fs " + filesystem)) : Status();
  };
  const auto applied =
      fs::repair::apply_plan(head_.store, head_.clock, chosen.plan, head_.config.head_name, told);
  tell(filesystem, done, outcomes.size() - done);
  if (!applied) {
    Error error = applied.error();
    error.message = fmt::format(
        "fs {}: the repair has ended after {} steps: {} (each step was done whole or not at all; "
        "run it again)",
        filesystem, outcomes.size(), error.message);
    log::warn("{}", error.message);
    return tl::unexpected<Error>(std::move(error));
  }
  return api::repair_document(chosen.plan, plan, outcomes);
}

Result<json> RepairAdmin::repairs(const std::string& filesystem) {
  SYMNAS_ASSIGN(const ClusterView cluster, read_when_ready(head_, reader_));
  SYMNAS_TRY(find(cluster.filesystems, "fs", filesystem));
  const FsId fs{cluster.filesystems.at(filesystem).record.fsid()};
  SYMNAS_ASSIGN(const auto records, fs::repair::read_log(head_.store, fs));
  return api::repairs_document(filesystem, records);
}

}  // namespace symnas::vnfsd::daemon
