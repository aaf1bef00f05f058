#include "tests/sim/filesystem_run.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/prepare.h"
#include "tests/sim/product_check.h"
#include "tests/sim/records_check.h"
#include "tests/sim/tree_work.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

class FilesystemRun {
 public:
  explicit FilesystemRun(const RunOptions& options)
      : options_(options), heads_(options.world, options.heads) {}

  void run() {
    heads_.start();
    clients_ = prepare_clients(heads_, shared_, options_.workload);
    int running = shared_.clients;
    if (options_.trees) start_trees(running);
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
      if (options_.come_and_go > 0 &&
          below(16) < static_cast<std::uint64_t>(options_.come_and_go)) {
        heads_.come_and_go();
      } else {
        heads_.disturb(options_.hazards);
      }
      check("");
    }
    heads_.all_come_back();
    if (below(2) == 0) heads_.settle();  // else the clients end while it is disturbed
    wait_until(this, "the clients", [&running] { return running == 0; });
    finish_run();
  }

 private:
  void start_trees(int& running) {
    trees_ = std::make_unique<TreeWork>(heads_, people_);
    trees_->prepare(shared_.clients);
    running += 2;
    spawn(people_, "trees", [this, &running] {
      trees_->change_trees(2 + below(10));
      --running;
      wake(this);
    });
    spawn(people_, "names of trees", [this, &running] {
      trees_->change_names(20 + below(60));
      --running;
      wake(this);
    });
  }
  void check(const std::string& when, Moment moment = Moment::kAny) {
    MountWorld& world = heads_.first();
    std::string wrong =
        check_records(world.server(), world.fs(), world.volume_blocks(), moment, heads_.size());
    if (wrong.empty()) {
      // RENAME changes the times of two directories.
      wrong = check_as_product(world.server(), world.fs(), world.volume_blocks(), moment,
                               {2 * shared_.names.lost_changes, world.unerased()});
    }
    if (wrong.empty() && trees_ != nullptr) wrong = trees_->check();
    if (wrong.empty()) wrong = heads_.check_ends();
    if (!wrong.empty()) fail(wrong + when);
  }
  void check_clients() {
    for (auto& client : clients_) client->check_all();
    clients_.front()->check_registers();
    clients_.front()->check_shared_names();
  }

  void finish_run() {
    heads_.settle();
    check_clients();
    if (trees_ != nullptr) trees_->wait_ready();
    check(" (clients done)");
    if (shared_.registers != nullptr) {
      const std::string wrong = shared_.registers->check();
      if (!wrong.empty()) fail(wrong);
    }
    heads_.close_cleanly();
    for (auto& client : clients_) client->closed_cleanly();
    for (SharedFile& file : shared_.files) file.model->committed(file.model->snapshot());
    if (below(2) == 0) heads_.lose_power();
    check_clients();
    sleep_ns(70'000 * kNsPerMs);  // write flags are cleared, orphans are swept
    check(" (at the end)", Moment::kQuiet);
    if (heads_.size() == 1) check_space();
  }

  // No space is lost: all blocks that are not mapped can be allocated.
  void check_space() {
    std::uint64_t free_blocks = 0;
    std::uint64_t total_blocks = 0;
    MountWorld& world = heads_.first();
    world.call(world.epoch(), [&](fs::Mount& mount) {
      const auto use = mount.statfs(std::nullopt);
      if (!use) fail("statfs: " + use.error().message);
      free_blocks = use->free_bytes / 4096;
      total_blocks = use->total_bytes / 4096;
    });
    const std::uint64_t mapped = mapped_blocks(world.server(), world.fs());
    if (free_blocks + mapped != total_blocks) {
      fail("of " + std::to_string(total_blocks) + " blocks " + std::to_string(mapped) +
           " are mapped and " + std::to_string(free_blocks) + " free");
    }
  }

  const RunOptions options_;
  Process& people_ = new_process("clients");
  Heads heads_;
  Shared shared_;
  std::unique_ptr<TreeWork> trees_;  // null: none
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace

void run_filesystem(const RunOptions& options) { (new FilesystemRun(options))->run(); }

}  // namespace symnas::sim
