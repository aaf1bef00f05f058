// RepairWorld: a populated filesystem in a store in memory, damages in that store, and repairs of
// it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fsal_cluster/check/check.h"
#include "fsal_cluster/repair/apply.h"
#include "fsal_cluster/repair/plan.h"
#include "fsal_cluster/repair/planner.h"
#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::fs::test {

class RepairWorld {
 public:
  // Who has the filesystem mounted while it is repaired.
  enum class Mounted { kSole, kNone };
  explicit RepairWorld(Mounted mounted);

  // Changes the store as the damage changes keys.
  void plant(const std::function<void(Keys&)>& damage);
  check::Report check();
  // Of the present findings.
  repair::Plan plan();
  // Carries out what is due; returns how many steps were.
  std::size_t apply(const repair::Plan& plan);
  // Until nothing is left that can be done. Returns the last plan: what stays. `rounds`: how many
  // plans changed something.
  repair::Plan repair_all(int* rounds = nullptr);

  CheckWorld world;
};

// "repair|later|refuse: <finding>: <text>", for messages.
std::vector<std::string> lines(const repair::Plan& plan);

}  // namespace symnas::fs::test
