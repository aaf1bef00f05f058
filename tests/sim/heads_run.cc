// Simulation 3: two or three mounts of one filesystem at the same time, with tokens, barriers and
// freed space that others may still read. Each mount is stopped, killed, fenced, replaced, moved
// and cut off, and goes for a while and comes back (sole and shared). Clients ask any of the
// mounts: every mount shows what another one has acknowledged (client.h). A file that all write,
// grow and truncate serves as registers (registers.h). Whenever something was disturbed, and at the
// end, the records are consistent, also by the product's own checker. Every eighth seed has quotas,
// with directory trees that are made and removed (tree_work.h).
#include "tests/sim/disks.h"
#include "tests/sim/filesystem_run.h"
#include "tests/sim/simulations.h"

namespace symnas::sim {

namespace {

// All clients change a few names at the same time, and do little else.
void crowd_names(Workload& workload) {
  workload.namespace_weight = 20;
  workload.data_weight = 1;
  workload.register_weight = 1;
  workload.shared_weight = 11;
  workload.shared_moves = below(2) == 0 ? 2 : 11;
  workload.shared_names = 2;
}

}  // namespace

void run_heads(std::uint64_t seed) {
  RunOptions options;
  options.trees = options.world.quotas = seed % 8 == 7;
  options.world.volume_bytes = below(2) == 0 ? kSmallVolume : kVolume;
  options.world.disk = prepared_disk();
  options.heads = 2 + below(2);
  options.workload.operations = 15 + below(30);
  options.workload.namespace_weight = static_cast<int>(1 + below(6));
  options.workload.data_weight = 6;
  options.workload.shared_weight = static_cast<int>(2 + below(8));
  options.workload.shared_names = 1 + below(3);
  options.workload.shared_moves = static_cast<int>(1 + below(4));
  options.workload.register_weight = static_cast<int>(2 + below(12));
  options.workload.resize_weight = static_cast<int>(below(2) == 0 ? 1 : 2 + below(8));
  options.workload.file_cells_max = below(2) == 0 ? 512 : 2048;
  if (below(6) == 0) crowd_names(options.workload);
  options.hazards.kill = 3;
  options.hazards.pause = 3;
  options.hazards.close = 1;
  options.hazards.power = 0;
  options.hazards.outlive = below(2) == 0 ? 3 : 0;
  options.come_and_go = below(2) == 0 ? 0 : 4;
  run_filesystem(options);
}

}  // namespace symnas::sim
