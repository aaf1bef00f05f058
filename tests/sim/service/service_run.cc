// Simulation 6: a VNFS on two heads, whose vnfsds run the real lifecycle, claims, releases and
// planner. They die at every action, are paused, cut off, fenced by power or by LUNs only, and come
// back; VNFSs are moved, instances killed and restarted. What must hold: service.h; and what was
// acknowledged is found. In the end somebody serves.
#include <memory>
#include <set>
#include <string>

#include "common/kv/keys.h"
#include "tests/sim/disks.h"
#include "tests/sim/service/head.h"
#include "tests/sim/service/records.h"
#include "tests/sim/service/service.h"
#include "tests/sim/simulations.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/plans/plans.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kOrderNs = 60'000 * kNsPerMs;
const fs::Credentials kRoot{};
const fs::NewNode kNode{};

class ServiceRun {
 public:
  ServiceRun() : service_(*new Service(prepared_disk())) {}

  void run() {
    service_.start();
    service_.wait_served();
    spawn(clients_, "client", [this] { work(); });
    const std::uint64_t disturbances = 4 + below(8);
    for (std::uint64_t i = 0; i < disturbances; ++i) {
      sleep_ns(within_ms(below(3) == 0 ? 12'000 : 1'500));
      disturb();
    }
    ends_ = true;
    service_.settle();
    look_at_all();
    wait_for_orders();
    finish();
  }

 private:
  // A client that makes names, and looks for those that it was told of.
  void work() {
    for (unsigned n = 0; !ends_; sleep_ns(within_ms(40))) {
      Instance* const instance = service_.reached();
      if (instance == nullptr) continue;
      if (below(3) != 0 && !names_.empty()) {
        look_for(*instance, *std::next(names_.begin(), static_cast<long>(below(names_.size()))));
        continue;
      }
      const std::string name = "n" + std::to_string(n++);
      const auto made = std::make_shared<bool>(false);  // a late request outlives this turn
      const bool told = service_.ask(*instance, [this, made, name](fs::Mount& mount) {
        *made = mount.create(kRoot, service_.root(), name, fs::CreateMode::kUnchecked, 0, kNode)
                    .has_value();
      });
      if (told && *made) names_.insert(name);
    }
  }

  bool look_for(Instance& instance, const std::string& name) {
    const auto found = std::make_shared<Status>();
    const bool told = service_.ask(instance, [this, name, found](fs::Mount& mount) {
      const auto seen = mount.lookup(service_.root(), name);
      if (!seen) *found = tl::unexpected<Error>(seen.error());
    });
    if (told && !*found && found->error().code == ErrorCode::kNotFound)
      fail("a name that was acknowledged is not found: " + name);
    return told && *found;
  }

  void look_at_all() {
    for (const std::string& name : names_) {
      for (;; sleep_ns(20 * kNsPerMs)) {
        Instance* const instance = service_.reached();
        if (instance != nullptr && look_for(*instance, name)) break;
      }
    }
  }

  // What was ordered is done, or was forgotten with a head that was lost.
  void wait_for_orders() {
    const std::string key = kv::keys::kMoves + kService;
    const std::int64_t end_ns = now_ns() + kOrderNs;
    const auto is_open = [&] {
      for (const kv::KeyValue& one : service_.server().dump()) {
        if (one.key == key) return true;
      }
      return false;
    };
    while (is_open()) {
      if (now_ns() > end_ns) fail("an order to move is not carried out");
      sleep_ns(200 * kNsPerMs);
    }
  }

  void order_move() {
    SimHead& head = *service_.heads()[below(2)];
    spawn(clients_, "order", [this, &head] {
      const auto store = service_.connect(clients_, service_.faults());
      static_cast<void>(vnfsd::make_change(
          *store,
          [&](const vnfsd::ClusterView& view) {
            return vnfsd::plan_vnfs_rehost(view, kService, head.name(), clients_.wall_ns());
          },
          vnfsd::Mode::kCommit));
      sleep_ns(60'000 * kNsPerMs);
    });
  }

  void disturb() {
    service_.begin_trouble();
    SimHead& head = *service_.heads()[below(2)];
    switch (below(10)) {
      case 0:
      case 1:
      case 2: order_move(); break;
      case 3: head.kill_instance(); break;
      case 4: head.kill_daemon(); break;
      case 5: head.pause_all(within_ms(below(2) == 0 ? 400 : 20'000)); break;
      case 6: head.cut_off(within_ms(below(2) == 0 ? 2'000 : 30'000)); break;
      case 7: head.restart_instance(); break;
      case 8: head.end_instance(); break;
      default: head.lose_power(); break;
    }
  }

  Service& service_;
  Process& clients_ = new_process("clients");
  std::set<std::string> names_;
  bool ends_ = false;
};

}  // namespace

void run_service(std::uint64_t /*seed*/) { (new ServiceRun)->run(); }

}  // namespace symnas::sim
