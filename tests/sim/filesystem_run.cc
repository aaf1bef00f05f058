// Simulations 1 and 4: clients of one filesystem while its instance is stopped, killed, moved and
// cut off, etcd misbehaves and the LUNs delay, tear, refuse and forget.
//   mount   the end of a mount: names and data, a small volume whose space is used again and again
//   data    data commit: contents under power loss at every step, shared blocks and sectors
// What must hold is in client.h and file_model.h; after the run the whole tree, all contents and
// the records are compared once more, after a clean close, after a power loss and by themselves.
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/client.h"
#include "tests/sim/mount_world.h"
#include "tests/sim/records_check.h"
#include "tests/sim/simulations.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::byte kPoison{0xEE};
constexpr std::uint64_t kSmallVolume = 6 << 20;
constexpr std::uint64_t kVolume = 24 << 20;

std::shared_ptr<test::SimDisk> prepared_disk;

class MountRun {
 public:
  MountRun(const MountWorldOptions& options, Workload workload, MountWorld::Hazards hazards)
      : workload_(workload), hazards_(hazards), world_(options) {}

  void run() {
    world_.start();
    prepare();
    int running = shared_.clients;
    for (auto& client : clients_) {
      spawn(people_, "client", [this, &client, &running] {
        client->run();
        --running;
        wake(this);
      });
    }
    std::uint64_t disturbances = below(16);
    while (running > 0 && disturbances-- > 0) {
      sleep_ns(static_cast<std::int64_t>(below(below(3) == 0 ? 2'000 : 60)) * kNsPerMs);
      world_.disturb(hazards_);
      check("");
    }
    if (below(2) == 0) world_.settle();  // else the clients end in the middle of it
    wait_until(this, "the clients", [&running] { return running == 0; });
    finish_run();
  }

 private:
  void prepare() {
    shared_.clients = static_cast<int>(2 + below(3));
    std::vector<fs::Handle> handles;
    world_.call(world_.epoch(), [&](fs::Mount& mount) {
      const fs::Credentials root;
      fs::NewNode node;
      node.attributes.mode = 0755;
      shared_.directory = mount.mkdir(root, world_.root(), "shared", node)->attributes.handle;
      for (int i = 0; i < 2; ++i) {
        handles.push_back(mount
                              .create(root, shared_.directory, "f" + std::to_string(i),
                                      fs::CreateMode::kGuarded, 0, node)
                              ->attributes.handle);
      }
    });
    for (const fs::Handle& handle : handles) {
      SharedFile file;
      file.handle = handle;
      file.model = std::make_unique<FileModel>(shared_.next_file++, 0);
      constexpr std::uint64_t kPieces[] = {1, 4, 8, 24, 64, 128};
      file.piece_cells = kPieces[below(6)];
      file.cells_max = 512;
      file.epoch = world_.epoch();
      shared_.files.push_back(std::move(file));
    }
    for (int i = 0; i < shared_.clients; ++i) {
      clients_.push_back(std::make_unique<Client>(world_, shared_, i, workload_));
      clients_.back()->prepare();
    }
  }

  void check(const std::string& when, Moment moment = Moment::kAny) {
    const std::string wrong =
        check_records(world_.server(), world_.fs(), world_.volume_blocks(), moment);
    if (!wrong.empty()) fail(wrong + when);
  }
  void check_clients() {
    for (auto& client : clients_) client->check_all();
  }

  void finish_run() {
    world_.settle();
    check_clients();
    check(" (clients done)");
    world_.close_cleanly();
    for (auto& client : clients_) client->closed_cleanly();
    for (SharedFile& file : shared_.files) file.model->committed(file.model->snapshot());
    if (below(2) == 0) world_.lose_power();
    check_clients();
    check_shared_names();
    sleep_ns(70'000 * kNsPerMs);  // flags fall, orphans are swept
    check(" (at the end)", Moment::kQuiet);
    check_space();
  }

  void check_shared_names() {
    for (const auto& [name, counts] : shared_.names) {
      bool exists = false;
      bool answered = false;
      while (!answered) {
        answered = world_.call(world_.epoch(), [&, &which = name](fs::Mount& mount) {
          exists = mount.lookup(shared_.directory, which).has_value();
        }) == MountWorld::Reply::kAnswered;
      }
      const int least = counts.created - counts.removed - counts.maybe_removed;
      const int most = counts.created - counts.removed + counts.maybe_created;
      const int there = exists ? 1 : 0;
      if (there < least || there > most) fail("shared name " + name + " cannot be so");
    }
  }

  // No lost space: what is not mapped can be had.
  void check_space() {
    std::uint64_t free_blocks = 0;
    std::uint64_t total_blocks = 0;
    world_.call(world_.epoch(), [&](fs::Mount& mount) {
      const auto use = mount.statfs();
      if (!use) fail("statfs: " + use.error().message);
      free_blocks = use->free_bytes / 4096;
      total_blocks = use->total_bytes / 4096;
    });
    const std::uint64_t mapped = mapped_blocks(world_.server(), world_.fs());
    if (free_blocks + mapped != total_blocks) {
      fail("of " + std::to_string(total_blocks) + " blocks " + std::to_string(mapped) +
           " are mapped and " + std::to_string(free_blocks) + " free");
    }
  }

  const Workload workload_;
  const MountWorld::Hazards hazards_;
  Process& people_ = new_process("clients");
  MountWorld world_;
  Shared shared_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace

void prepare_disks() { prepared_disk = std::make_shared<test::SimDisk>(kVolume, kPoison); }

void run_mount(std::uint64_t /*seed*/) {
  MountWorldOptions options;
  options.volume_bytes = below(2) == 0 ? kSmallVolume : kVolume;
  options.disk = prepared_disk;
  Workload workload;
  workload.operations = 15 + below(40);
  workload.namespace_weight = 6;
  workload.data_weight = 5;
  MountWorld::Hazards hazards;
  hazards.kill = 4;
  hazards.close = 2;
  hazards.pause = 2;
  hazards.outlive = below(3) == 0 ? 3 : 0;
  (new MountRun(options, workload, hazards))->run();
}

void run_data(std::uint64_t /*seed*/) {
  MountWorldOptions options;
  options.volume_bytes = kVolume;
  options.disk = prepared_disk;
  Workload workload;
  workload.operations = 20 + below(50);
  workload.namespace_weight = 1;
  workload.data_weight = 9;
  MountWorld::Hazards hazards;
  hazards.power = 5;
  (new MountRun(options, workload, hazards))->run();
}

}  // namespace symnas::sim
