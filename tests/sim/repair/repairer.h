// Repairer: repairs of the filesystem, each by a process of its own, as a head does them: it
// checks, plans and carries out, round after round. Its transactions lose their answers, and it
// dies at any moment.
//
// Thread class: for simulated threads.
#pragma once

#include <cstdint>

#include "fsal_cluster/repair/plan.h"
#include "tests/sim/repair/step_judge.h"

namespace symnas::sim {

class Repairer {
 public:
  Repairer(MountWorld& world, StepJudge& judge) : world_(world), judge_(judge) {}

  // One repair; returns when it has come to its end, or has died.
  void run_disturbed();
  // Repairs without a fault until nothing is left that can be done. Returns what stays.
  fs::repair::Plan run_to_the_end();

 private:
  struct Run {
    fs::repair::Plan last;
    bool ended = false;
    bool nothing_left = false;  // `last` has no step that can be carried out
  };
  void rounds(kv::Store& store, Process& process, Run& run);

  MountWorld& world_;
  StepJudge& judge_;
  std::uint64_t runs_ = 0;
};

}  // namespace symnas::sim
