// Simulations 1 and 4: clients of one filesystem while its instance is stopped, killed, moved and
// cut off, etcd misbehaves, and the LUNs delay, tear, refuse and lose writes.
//   mount   the end of a mount: names and data, a small volume whose space is used again and again
//   data    data commit: contents under power loss at every step, shared blocks and sectors
// What must hold is in client.h and file_model.h. After the run the whole tree, all contents and
// the records are compared once more: after a clean close, after a power loss, and with each other.
#include "tests/sim/disks.h"
#include "tests/sim/filesystem_run.h"
#include "tests/sim/simulations.h"

namespace symnas::sim {

namespace {

constexpr std::byte kPoison{0xEE};

std::shared_ptr<test::SimDisk> disk;

}  // namespace

void prepare_disks(DiskSize size) {
  disk =
      std::make_shared<test::SimDisk>(size == DiskSize::kLarge ? kLargeVolume : kVolume, kPoison);
}
const std::shared_ptr<test::SimDisk>& prepared_disk() { return disk; }

void run_mount(std::uint64_t seed) {
  MountWorldOptions options;
  options.quotas = seed % 4 == 3;
  options.volume_bytes = below(2) == 0 ? kSmallVolume : kVolume;
  options.disk = prepared_disk();
  Workload workload;
  workload.operations = 15 + below(40);
  workload.namespace_weight = 6;
  workload.data_weight = 5;
  workload.shared_moves = static_cast<int>(1 + below(6));
  MountWorld::Hazards hazards;
  hazards.kill = 4;
  hazards.close = 2;
  hazards.pause = 2;
  hazards.outlive = below(3) == 0 ? 3 : 0;
  run_filesystem({.world = options,
                  .workload = workload,
                  .hazards = hazards,
                  .trees = options.quotas && seed % 8 == 7});
}

void run_data(std::uint64_t seed) {
  MountWorldOptions options;
  options.quotas = seed % 4 == 3;
  options.volume_bytes = kVolume;
  options.disk = prepared_disk();
  Workload workload;
  workload.operations = 20 + below(50);
  workload.namespace_weight = 1;
  workload.data_weight = 9;
  MountWorld::Hazards hazards;
  hazards.power = 5;
  run_filesystem({.world = options, .workload = workload, .hazards = hazards});
}

}  // namespace symnas::sim
