// Simulation 5: what clients hold over moves, crashes and restarts of one or two VNFSs of a
// filesystem: model clients of NFSv3 with NLM and NSM (nlm_client.h), NFSv4 (nfs4_client.h) and
// non-idempotent operations (names_client.h) in front of the real mount, its lock records and the
// real parts of the status monitor (life.h).
// What must hold: no two beliefs conflict (arbiter.h: stolen); what is believed to be held can be
// reclaimed and is denied to others (lost); what nobody holds can be had at the end (stuck); one
// effect and the first answer.
#include <memory>
#include <string>
#include <vector>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/file_locks.h"
#include "tests/sim/disks.h"
#include "tests/sim/heads.h"
#include "tests/sim/moves/names_client.h"
#include "tests/sim/moves/nfs4_client.h"
#include "tests/sim/moves/nlm_client.h"
#include "tests/sim/simulations.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::size_t kFiles = 2;
constexpr unsigned kProber = 99;
constexpr bool kNeverGone = false;
// Two leases on the slowest clock, and some.
std::int64_t two_leases_ns() {
  return 2 * fs::MountOptions{}.nfs_lease_s * 1000 * kNsPerMs * 10 / 9 + 5'000 * kNsPerMs;
}

class MovesRun {
 public:
  MovesRun(const MountWorldOptions& world, std::size_t vnfses) : heads_(world, vnfses) {
    hazards_.kill = 5;
    hazards_.power = 0;
    hazards_.pause = 2;
    hazards_.close = 5;
    hazards_.outlive = below(3) == 0 ? 2 : 0;
  }

  void run() {
    heads_.start();
    prepare();
    start_clients();
    std::uint64_t disturbances = below(14);
    while (running_ > 0 && disturbances-- > 0) {
      sleep_ns(static_cast<std::int64_t>(below(below(4) == 0 ? 50'000 : 2'000)) * kNsPerMs);
      disturb();
    }
    heads_.settle();
    wait_until(&running_, "the clients", [this] { return running_ == 0; });
    check_held();
    check_stuck();
    for (auto& client : names_) client->check();
  }

 private:
  void prepare() {
    MountWorld& world = heads_.first();
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
      heads_[i].close_cleanly();  // from the next instance on
    }
  }

  Server& draw_server() { return *servers_[below(servers_.size())]; }

  void start_clients() {
    unsigned number = 0;
    for (std::uint64_t i = 1 + below(3); i > 0; --i)
      nlm_.push_back(std::make_unique<ModelNlmClient>(draw_server(), arbiter_, ++number, kFiles));
    for (std::uint64_t i = 1 + below(2); i > 0; --i)
      nfs4_.push_back(std::make_unique<ModelNfs4Client>(draw_server(), arbiter_, ++number, kFiles));
    names_.push_back(std::make_unique<NamesClient>(draw_server(), ++number, directory_));
    start(nlm_);
    start(nfs4_);
    start(names_);
  }
  template <class Clients>
  void start(Clients& clients) {
    for (auto& client : clients) {
      ++running_;
      const std::size_t operations = 10 + below(40);
      spawn(people_, "client", [this, &client, operations] {
        client->run(operations);
        --running_;
        wake(&running_);
      });
    }
  }

  // Also a second failover in the middle of the first one's recovery.
  void disturb() {
    MountWorld& one = heads_[below(heads_.size())];
    if (below(6) != 0) return one.disturb(hazards_);
    one.kill_instance();
    for (std::uint64_t more = 1 + below(3); more > 0; --more) {
      sleep_ns(static_cast<std::int64_t>(below(400)) * kNsPerMs);
      one.kill_instance();
    }
  }

  std::optional<Answer> probe(Server& server, const LockCall& call) {
    for (;;) {
      const auto reply = server.call(
          kProber, [call](Life& life) { return life.lock(call); }, &kNeverGone);
      if (reply->answer != Answer::kDelay) return reply->answer;
      sleep_ns(100 * kNsPerMs);
    }
  }
  static LockCall probe_of(std::size_t file, Span span, fs::LockMode mode) {
    LockCall call;
    call.owner = {fs::LockProtocol::kNfs4, "prober", "prober"};
    call.file = file;
    call.range = range_of(span, mode);
    return call;
  }

  // What clients hold is denied to others, after one more restart, too.
  void check_held() {
    for (int round = 0; round < 2; ++round) {
      for (unsigned client = 0; client < kProber; ++client) {
        for (const auto& [key, beliefs] : arbiter_.of_client(client))
          check_held(client, key.first, beliefs);
      }
      for (std::size_t i = 0; i < heads_.size(); ++i) heads_[i].kill_instance();
      heads_.settle();
    }
  }
  void check_held(unsigned client, std::size_t file, const Beliefs& beliefs) {
    for (const auto& [span, mode] : runs(beliefs)) {
      const LockCall call = probe_of(file, span, fs::LockMode::kExclusive);
      Server& server = draw_server();
      const auto reply = server.call(
          kProber, [call](Life& life) { return life.test(call); }, &kNeverGone);
      if (reply->answer == Answer::kDenied) continue;
      fail("lost: client " + std::to_string(client) + " holds bytes " + std::to_string(span.first) +
           "-" + std::to_string(span.last) + " of file " + std::to_string(file) +
           ", and others could have them");
    }
  }

  // When all have closed their files, and two leases later for those that are gone.
  void check_stuck() {
    bool left = false;
    for (auto& client : nlm_) {
      if (!client->dead()) client->close_all();
      left = left || client->left_locks();
    }
    for (auto& client : nfs4_) {
      if (!client->dead()) client->close_all();
    }
    sleep_ns(two_leases_ns());
    for (auto& server : servers_) {
      for (std::size_t file = 0; file < kFiles; ++file) {
        const LockCall call = probe_of(file, {0, kBytes - 1}, fs::LockMode::kExclusive);
        const auto answer = probe(*server, call);
        server->call(
            kProber, [call](Life& life) { return life.unlock(call); }, &kNeverGone);
        static_cast<void>(answer);
      }
    }
    sleep_ns(2'000 * kNsPerMs);
    check_records();
  }
  // No record is left but of NLM clients that are gone without a word.
  void check_records() {
    bool done = false;
    spawn(people_, "look", [this, &done] {
      SimStore store(people_, heads_.first().server_ptr(), nullptr, 100'000);
      const auto found = kv::range_blocking(
          store, kv::prefix_range(kv::keys::locks(heads_.first().fs())), 0, 10'000);
      if (!found) fail("no lock records: " + found.error().message);
      for (const kv::KeyValue& kv : found->kvs) check_record(kv.value);
      done = true;
      wake(&done);
    });
    wait_until(&done, "the records", [&done] { return done; });
  }
  void check_record(const std::string& value) {
    fs::records::LockRecord record;
    if (!record.ParseFromString(value)) fail("a lock record cannot be parsed");
    for (const auto& client : nlm_) {
      const auto who = fs::parse_nlm_client(record.client());
      if (client->left_locks() && who && who->address == client->address()) return;
    }
    fail("stuck: a lock of " + record.client() + ", owner " + record.owner() + ", NSM state " +
         std::to_string(record.nsm_state()) + ", is recorded, and nobody holds it");
  }

  Process& people_ = new_process("clients");
  Heads heads_;
  MountWorld::Hazards hazards_;
  Arbiter arbiter_;
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
  (new MovesRun(options, 1 + below(2)))->run();
}

}  // namespace symnas::sim
