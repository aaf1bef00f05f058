#include "tests/sim/repair/repairer.h"

#include <algorithm>
#include <memory>
#include <string>

#include "fsal_cluster/check/check.h"
#include "fsal_cluster/repair/apply.h"
#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/planner.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr int kRoundsMax = 24;
// Tokens that nobody has used for so long are given up.
constexpr std::int64_t kQuietNs = 20'000 * kNsPerMs;

}  // namespace

void Repairer::rounds(kv::Store& store, Process& process, Run& run) {
  for (int round = 0; round < kRoundsMax; ++round) {
    const auto report = fs::check::check_filesystem(
        store, "u04", [] { sleep_ns(500 * kNsPerMs); }, {}, fs::repair::kPlanFindingsMax);
    if (!report) return trace("no check: %s", report.error().message.c_str());
    fs::repair::Snapshot snapshot(store, report->revision);
    auto plan = fs::repair::plan_repair(*report, snapshot, process.wall_ns());
    if (!plan) return trace("no plan: %s", plan.error().message.c_str());
    run.last = std::move(*plan);
    run.nothing_left =
        std::none_of(run.last.steps.begin(), run.last.steps.end(),
                     [&run](const fs::repair::Step& step) { return run.last.is_due(step); });
    if (run.nothing_left) return;
    judge_.expect(run.last);
    const auto done = fs::repair::apply_plan(store, process, run.last, "c1n1",
                                             [](const fs::repair::Outcome&) { return Status(); });
    if (!done) return trace("not carried out: %s", done.error().message.c_str());
  }
}

void Repairer::run_disturbed() {
  Process& process = new_process("repair." + std::to_string(++runs_));
  // What it has sent outlives this call.
  auto* const store =
      new SimStore(process, world_.server_ptr(),
                   std::make_shared<SimFaults>(SimFaults::draw_weights()), 1'500'000);
  auto* const recorded = judge_.store_of(*store).release();
  auto* const run = new Run;
  spawn(process, "repair", [this, recorded, &process, run] {
    rounds(*recorded, process, *run);
    run->ended = true;
    wake(&process);
  });
  if (below(2) == 0) {
    spawn(current_process(), "killer", [&process] {
      sleep_ns(static_cast<std::int64_t>(below(below(2) == 0 ? 60 : 1'500)) * kNsPerMs);
      if (process.alive()) kill(process);
    });
  }
  wait_until(&process, "a repair", [&process, run] { return run->ended || !process.alive(); });
}

fs::repair::Plan Repairer::run_to_the_end() {
  for (int i = 0; i < 3; ++i) {
    sleep_ns(kQuietNs);
    Process& process = new_process("repair.last");
    auto* const store = new SimStore(process, world_.server_ptr(), nullptr, 100'000);
    auto* const recorded = judge_.store_of(*store).release();
    auto* const run = new Run;
    spawn(process, "repair", [this, recorded, &process, run] {
      rounds(*recorded, process, *run);
      run->ended = true;
      wake(&process);
    });
    wait_until(&process, "the last repair", [run] { return run->ended; });
    if (!run->nothing_left) fail("the repair comes to no end");
    if (run->last.steps.empty() || i == 2) return run->last;
  }
  return {};
}

}  // namespace symnas::sim
