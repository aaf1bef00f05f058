// Simulation 7: a damaged filesystem is repaired while its mounts work, crash and move, and while
// the repair itself dies and loses answers. The damages are those of the check's unit tests,
// planted at any moment, up to four of them.
//  - every step: step_judge.h
//  - clients beside the damages are told the truth, and find everything at the end (client.h)
//  - at the end nothing is left but findings that are refused, each with its reason; without such
//    the records are clean and no block is lost
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/uuid.h"
#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "tests/sim/data_calls.h"
#include "tests/sim/disks.h"
#include "tests/sim/prepare.h"
#include "tests/sim/product_check.h"
#include "tests/sim/repair/repairer.h"
#include "tests/sim/repair/visitor.h"
#include "tests/sim/simulations.h"
#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

// A mount that somebody else has ended or made is no damage that the mounts outlive: it is what a
// fence does, or a mount that never answers.
// Nor is a counter that gives inode numbers of clients' files out again, or none (creates fail).
const std::set<std::string> kNotUnderLoad = {"MountId", "EndedMountThatNobodyRecovers",
                                             "InodeCounter", "InodeCounterThatIsNoNumber"};
constexpr int kDisturbedRepairsMax = 10;

std::vector<fs::test::Damage> all_damages() {
  std::vector<fs::test::Damage> out;
  for (auto* list : {fs::test::tree_damages, fs::test::record_damages, fs::test::map_damages,
                     fs::test::holder_damages}) {
    for (fs::test::Damage& damage : list())
      if (!kNotUnderLoad.contains(damage.name)) out.push_back(std::move(damage));
  }
  return out;
}

cvm::records::VolumeRecord volume_record() {
  cvm::records::LunRecord lun;
  lun.set_name("LUN0");
  lun.set_uuid(std::string(16, '1'));
  lun.set_logical_block_bytes(512);
  lun.set_size_bytes(fs::test::CheckWorld::kLunBytes);
  const auto volume = cvm::create_volume("v1", Uuid::generate(), std::span(&lun, 1), 64 << 10);
  if (!volume) fail("no volume: " + volume.error().message);
  return *volume;
}

class RepairRun {
 public:
  RepairRun(const MountWorldOptions& world, std::size_t heads) : heads_(world, heads) {}

  void run() {
    heads_.start();
    complete_records();
    populate();
    Workload workload;
    workload.operations = 10 + below(25);
    workload.shared_moves = static_cast<int>(1 + below(4));
    clients_ = prepare_clients(heads_, shared_, workload);
    judge_ = std::make_unique<StepJudge>(heads_.first(), people_);
    repairer_ = std::make_unique<Repairer>(heads_.first(), *judge_);
    int running = shared_.clients + 1;
    const auto person = [&](const char* name, auto work) {
      spawn(people_, name, [this, work, &running] {
        work();
        --running;
        wake(this);
      });
    };
    for (auto& client : clients_) person("client", [&client] { client->run(); });
    person("visitor", [this] { Visitor(heads_).run(20 + below(40)); });
    bool disturbed = true;
    bool repairing = true;
    spawn(people_, "repair", [this, &disturbed, &repairing] {
      for (int i = 0; disturbed && i < kDisturbedRepairsMax; ++i) {
        repairer_->run_disturbed();
        sleep_ns(static_cast<std::int64_t>(below(3'000)) * kNsPerMs);
      }
      repairing = false;
      wake(this);
    });
    disturb(running);
    heads_.all_come_back();
    heads_.settle();
    wait_until(this, "the clients", [&running] { return running == 0; });
    disturbed = false;
    wait_until(this, "the last repair", [&repairing] { return !repairing; });
    finish_run();
  }

 private:
  // What a check reads, and the mounts of a simulation do not need.
  void complete_records() {
    kv::Txn txn;
    txn.success = {kv::put(kv::keys::kVolumes + "v1", volume_record().SerializeAsString())};
    for (std::size_t i = 1; i <= heads_.size(); ++i)
      txn.success.push_back(kv::put(kv::keys::kVnfs + "vnfs" + std::to_string(i), ""));
    if (!at_once(std::move(txn))) fail("the records of the volume cannot be put");
  }

  void populate() {
    MountWorld& world = heads_.first();
    world.call(world.epoch(), [](fs::Mount& mount) {
      fs::test::populate(
          mount, [&mount](const fs::Handle& file, std::uint64_t offset, std::size_t bytes) {
            const std::string payload(bytes, 'x');
            for (bool written = false; !written;) {  // the LUN may return errors
              Waiting<fs::WriteResult> waiting;
              mount.write(file, FileOffset{offset}, std::as_bytes(std::span(payload)),
                          fs::WriteStability::kFileSync, waiting.callback());
              written = waiting.get().has_value();
            }
          });
    });
  }

  bool at_once(kv::Txn txn) {
    const NoSwitch keeps_the_turn;
    kv::MemStore store(kv::MemStoreOptions{.server = heads_.first().server_ptr()});
    bool done = false;
    store.txn(std::move(txn), {},
              [&done](const Result<kv::TxnResult>& result) { done = result && result->succeeded; });
    return done;
  }

  void plant() {
    const fs::test::Damage& damage = damages_[below(damages_.size())];
    MountWorld& world = heads_.first();
    const std::vector<kv::KeyValue> dump = world.server().dump();
    try {
      kv::Txn txn = fs::test::planted(world.fs(), whole_context(world, dump), dump, damage.plant);
      // No mount gives a directory a name without a change of its inode, and what a repair knows of
      // its names it compares by that.
      const std::string here = kv::keys::inode(world.fs(), fs::test::kHere);
      const auto inode = std::find_if(dump.begin(), dump.end(),
                                      [&](const kv::KeyValue& kv) { return kv.key == here; });
      if (std::string_view(damage.name) == "DirectoryWithTwoNames" && inode != dump.end())
        txn.success.push_back(kv::put(here, inode->value));
      if (at_once(std::move(txn))) trace("plants %s", damage.name);
    } catch (const fs::test::NothingToWorkOn&) {
      trace("cannot plant %s", damage.name);
    }
  }

  void disturb(const int& running) {
    MountWorld::Hazards hazards;
    hazards.kill = 3;
    hazards.close = 1;
    hazards.power = 0;
    std::uint64_t damages = 1 + below(4);
    std::uint64_t disturbances = 2 + below(12);
    while (disturbances > 0 && running > 0) {
      if (damages > 0 && below(2) == 0) {
        plant();
        --damages;
      } else {
        --disturbances;
        if (below(6) == 0) {
          heads_.come_and_go();
        } else {
          heads_.disturb(hazards);
        }
      }
      sleep_ns(static_cast<std::int64_t>(below(below(3) == 0 ? 3'000 : 60)) * kNsPerMs);
    }
    for (; damages > 0; --damages) plant();
  }

  void check_clients() {
    for (auto& client : clients_) client->check_all();
    clients_.front()->check_shared_names();
  }

  void finish_run() {
    check_clients();
    const fs::repair::Plan left = repairer_->run_to_the_end();
    judge_->wait_judged();
    trace("%llu steps were judged", static_cast<unsigned long long>(judge_->judged()));
    check_left(left);
    check_clients();
    if (!left.steps.empty()) return;
    sleep_ns(70'000 * kNsPerMs);  // orphans are swept
    MountWorld& world = heads_.first();
    std::string wrong = check_records(world.server(), world.fs(), world.volume_blocks(),
                                      Moment::kAny, heads_.size());
    if (wrong.empty())
      wrong = check_as_product(world.server(), world.fs(), world.volume_blocks(), Moment::kAny);
    if (!wrong.empty()) fail(wrong + " (at the end)");
  }

  static void check_left(const fs::repair::Plan& left) {
    bool refused = left.steps.empty();
    for (const fs::repair::Step& step : left.steps) {
      trace("left: %s: %s", step.object.c_str(), step.text.c_str());
      refused = refused || step.verdict == fs::repair::Verdict::kRefuse;
      if (step.text.size() < 20) fail("no reason is given: " + step.object + ": " + step.text);
    }
    if (!refused) fail("steps wait for each other: " + left.steps.front().object);
  }

  const std::vector<fs::test::Damage> damages_ = all_damages();
  Process& people_ = new_process("people");
  Heads heads_;
  Shared shared_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::unique_ptr<StepJudge> judge_;
  std::unique_ptr<Repairer> repairer_;
};

}  // namespace

void run_repair(std::uint64_t /*seed*/) {
  MountWorldOptions options;
  options.volume_bytes = cvm::volume_size_bytes(volume_record());
  options.group_blocks = fs::test::CheckWorld::kGroupBlocks;
  options.disk = prepared_disk();
  options.unstamped_changes = true;
  (new RepairRun(options, 1 + below(2)))->run();
}

}  // namespace symnas::sim
