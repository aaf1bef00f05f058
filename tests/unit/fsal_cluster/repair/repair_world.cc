#include "tests/unit/fsal_cluster/repair/repair_world.h"

#include <fmt/core.h>

#include "common/base/check.h"
#include "fsal_cluster/repair/limits.h"

namespace symnas::fs::test {
namespace {

constexpr int kRoundsMax = 12;

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}

}  // namespace

RepairWorld::RepairWorld(Mounted mounted) {
  world.mount();
  world.populate();
  if (mounted == Mounted::kNone) world.kill();
}

void RepairWorld::plant(const std::function<void(Keys&)>& damage) {
  // The mount changes keys meanwhile: one that the damage changes, too, fails this.
  kv::Txn txn = planted(world.fs, world.context(), world.dump(), damage);
  const auto done = kv::txn_blocking(world.store, std::move(txn), 1000);
  CHECK(must(done).succeeded, "a key was changed before the damage was planted");
}

check::Report RepairWorld::check() {
  return must(check::check_filesystem(
      world.store, "u04", [] {}, {}, repair::kPlanFindingsMax));
}

repair::Plan RepairWorld::plan() {
  const check::Report report = check();
  repair::Snapshot snapshot(world.store, report.revision);
  return must(repair::plan_repair(report, snapshot, env::system_clock().wall_ns()));
}

std::size_t RepairWorld::apply(const repair::Plan& plan) {
  const auto done = must(repair::apply_plan(world.store, env::system_clock(), plan, "c1n1",
                                            [](const repair::Outcome&) { return Status(); }));
  std::size_t count = 0;
  for (const repair::Outcome& outcome : done)
    if (outcome.applied == repair::Applied::kDone) ++count;
  return count;
}

repair::Plan RepairWorld::repair_all(int* rounds) {
  for (int round = 0; round < kRoundsMax; ++round) {
    repair::Plan next = plan();
    if (apply(next) == 0) return next;
    if (rounds != nullptr) ++*rounds;
  }
  CHECK(false, "the repair comes to no end");
  return {};
}

std::vector<std::string> lines(const repair::Plan& plan) {
  std::vector<std::string> out;
  for (const repair::Step& step : plan.steps)
    out.push_back(fmt::format("{}: {}: {}", repair::word(step.verdict), step.object, step.text));
  return out;
}

}  // namespace symnas::fs::test
