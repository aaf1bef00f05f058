// Simulation 5: what clients hold over moves, crashes and restarts of one or two VNFSs of a
// filesystem. Model clients of NFSv3 with NLM and NSM (nlm_client.h), of NFSv4 with opens and locks
// (nfs4_client.h), and with non-idempotent operations (names_client.h) run against the real mount,
// its records of locks and opens, and the real parts of the status monitor (life.h,
// nfs4_clients.h). What must hold:
//  - no two beliefs conflict (arbiter.h; else "stolen");
//  - what a client believes that it holds, or has open, can be reclaimed and is denied to others
//    (else "lost");
//  - what nobody holds can be had at the end (checks.h; else "stuck");
//  - no two recorded locks conflict (stored_locks.h);
//  - a non-idempotent operation has one effect, and its first answer.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/disks.h"
#include "tests/sim/heads.h"
#include "tests/sim/moves/checks.h"
#include "tests/sim/moves/names_client.h"
#include "tests/sim/moves/nfs4_client.h"
#include "tests/sim/moves/nlm_client.h"
#include "tests/sim/moves/stored_locks.h"
#include "tests/sim/simulations.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::size_t kFiles = 2;
// More than two leases on the slowest clock.
constexpr std::int64_t kQuietNs = 50'000 * kNsPerMs;
// Longer than a mount waits until it takes itself for the only one, shorter than a lease.
constexpr std::uint64_t kAwayMsMax = 15'000;

class MovesRun {
 public:
  MovesRun(const MountWorldOptions& world, std::size_t vnfses) : heads_(world, vnfses) {
    hazards_.kill = 5;
    hazards_.power = 0;
    hazards_.pause = 2;
    hazards_.close = 5;
    hazards_.quota = 2;
    hazards_.outlive = below(2) == 0 ? 3 : 0;
  }

  void run() {
    heads_.start();
    prepare();
    make_clients();
    start(names_, 10 + below(40));
    disturbed_operations();
    if (below(5) < 2) {
      // From here on opens that deny something are granted again: no open from before a crash is
      // still to be reclaimed.
      wait_for_clients();
      sleep_ns(kQuietNs);
      close_some();
      disturbed_operations();
    }
    heads_.settle();
    wait_for_clients();
    Checks(people_, {heads_, arbiter_, servers_, nlm_, nfs4_, kFiles}).run();
    for (auto& client : names_) client->check();
  }

 private:
  void prepare() {
    MountWorld& world = heads_.first();
    stored_locks_.emplace(world.server_ptr(), world.fs());
    world.call(world.epoch(), [&](fs::Mount& mount) {
      const fs::Credentials root;
      fs::NewNode node;
      node.attributes.mode = 0755;
      directory_ = mount.mkdir(root, world.root(), "names", node)->attributes.handle;
      for (std::size_t i = 0; i < kFiles; ++i) {
        files_.push_back(mount
                             .create(root, world.root(), "file " + std::to_string(i),
                                     fs::CreateMode::kGuarded, 0, node)
                             ->attributes.handle);
      }
    });
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      servers_.push_back(std::make_unique<Server>(heads_[i], "10.0.0." + std::to_string(101 + i)));
      servers_.back()->start(files_);
      heads_[i].epoch();
      heads_[i].close_cleanly();  // the files are served from the next instance on
    }
  }

  Server& draw_server() { return *servers_[below(servers_.size())]; }

  void disturbed_operations() {
    start(nlm_, 10 + below(25));
    start(nfs4_, 10 + below(35));
    if (below(2) == 0) sleep_ns(static_cast<std::int64_t>(below(4'000)) * kNsPerMs);
    std::uint64_t disturbances = below(10);
    while (running_ > 0 && disturbances-- > 0) {
      sleep_ns(static_cast<std::int64_t>(below(below(4) == 0 ? 50'000 : 2'000)) * kNsPerMs);
      disturb();
      const std::string wrong = heads_.check_ends();
      if (!wrong.empty()) fail(wrong);
    }
  }
  // Gives clients that want to deny something a chance.
  void close_some() {
    for (auto& client : nfs4_)
      if (!client->dead() && below(2) == 0) client->close_all();
  }
  void wait_for_clients() {
    wait_until(&running_, "the clients", [this] { return running_ == 0; });
  }

  void make_clients() {
    unsigned number = 0;
    for (std::uint64_t i = 1 + below(2); i > 0; --i)
      nlm_.push_back(std::make_unique<ModelNlmClient>(draw_server(), arbiter_, ++number, kFiles));
    // The NFSv4 clients take the VNFSs in turn: two clients use two VNFSs.
    const std::size_t first = below(servers_.size());
    for (std::uint64_t i = below(4) == 0 ? 1 : 2; i > 0; --i) {
      Server& server = *servers_[(first + i) % servers_.size()];
      nfs4_.push_back(std::make_unique<ModelNfs4Client>(server, arbiter_, ++number, kFiles));
    }
    names_.push_back(std::make_unique<NamesClient>(draw_server(), ++number, directory_));
  }
  template <class Clients>
  void start(Clients& clients, std::size_t operations) {
    for (auto& client : clients) {
      ++running_;
      spawn(people_, "client", [this, &client, operations] {
        client->run(operations);
        --running_;
        wake(&running_);
      });
    }
  }

  // A fault; now and then a second failover in the middle of the first one's recovery.
  void disturb() {
    if (heads_.size() > 1 && below(6) == 0) return stay_away();
    MountWorld& one = heads_[below(heads_.size())];
    if (below(6) != 0) return one.disturb(hazards_);
    one.kill_instance();
    for (std::uint64_t more = 1 + below(3); more > 0; --more) {
      sleep_ns(static_cast<std::int64_t>(below(400)) * kNsPerMs);
      one.kill_instance();
    }
  }

  // Nobody takes a VNFS over for a while: who is left alone takes itself for the only mount.
  void stay_away() {
    heads_.come_and_go();
    sleep_ns(static_cast<std::int64_t>(below(kAwayMsMax)) * kNsPerMs);
    heads_.all_come_back();
  }

  Process& people_ = new_process("clients");
  Heads heads_;
  MountWorld::Hazards hazards_;
  Arbiter arbiter_;
  std::optional<StoredLocks> stored_locks_;
  fs::Handle directory_;
  std::vector<fs::Handle> files_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<ModelNlmClient>> nlm_;
  std::vector<std::unique_ptr<ModelNfs4Client>> nfs4_;
  std::vector<std::unique_ptr<NamesClient>> names_;
  int running_ = 0;
};

}  // namespace

void run_moves(std::uint64_t /*seed*/) {
  MountWorldOptions options;
  options.volume_bytes = kSmallVolume;
  options.disk = prepared_disk();
  (new MovesRun(options, below(3) == 0 ? 1 : 2))->run();
}

}  // namespace symnas::sim
