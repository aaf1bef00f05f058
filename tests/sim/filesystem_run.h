// A run of clients on one filesystem, with faults while they work; then everything is checked once
// more.
#pragma once

#include <cstddef>

#include "tests/sim/client.h"

namespace symnas::sim {

struct RunOptions {
  MountWorldOptions world;
  std::size_t heads = 1;
  Workload workload;
  MountWorld::Hazards hazards;
  int come_and_go = 0;  // of 16 disturbances
  bool trees = false;   // tree_work.h; needs quotas
};
// Ends the OS process with a failure when something was wrong.
void run_filesystem(const RunOptions& options);

}  // namespace symnas::sim
