// Three heads over an in-memory store, of which c1n3 fences c1n2. For tests.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fsal_cluster/schema/mount_entry.h"
#include "tests/unit/cvm/lun_files.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/daemon/agent.h"

namespace symnas::vnfsd::daemon {

using namespace std::string_literals;

inline constexpr FsId kFs{1};
inline constexpr MountId kMount{5};

class AgentFencingTest : public ::testing::Test {
 protected:
  // c1n2 owns vnfs1, whose instance has mounted filesystem u04.
  void SetUp() override {
    builder.basics();
    start("c1n2", "boot2", {});
    builder.vnfs1({"c1n1", "c1n2"});  // no supervisor at c1n2: the test claims
    const auto plan = agents["c1n2"]->host().claim("vnfs1", {});
    ASSERT_TRUE(plan) << plan.error().message;
    fs::records::MountRecord mount;
    mount.set_head("c1n2");
    mount.set_vnfs("vnfs1");
    mount.set_vnfs_id(plan->vnfs_id.value());
    mount.set_epoch(plan->epoch.value());
    builder.put(kv::keys::mount(kFs, kMount), mount.SerializeAsString());
    AgentLinks links;
    links.prober = sights.get();
    links.fence_off = [this](const std::string& head) -> Result<std::string> {
      asked.push_back(head);
      states_at_proof.push_back(builder.view().fences.at(head).record.state());
      if (during) during();
      if (fails) return fail(ErrorCode::kUnavailable, "agent: no power switch");
      return "power is off";
    };
    start("c1n3", "boot3", links);
  }
  // Before a derived fixture's members go: the agents' threads use them.
  void TearDown() override { agents.clear(); }
  void start(const std::string& head, const std::string& incarnation, const AgentLinks& links) {
    Config config;
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = head;
    config.head_address = "10.99.0." + head.substr(3);
    config.fence.cuts = "power";
    config.fence.persistent_reservations = reserves;
    config.fence.automatic = automatic;
    config.daemon.lun_paths = lun_paths;
    config.daemon.run_dir = ::testing::TempDir() + "symnas-fencing";
    agents[head].reset();
    agents[head] =
        std::make_unique<Agent>(builder.store, env::system_clock(), config, incarnation, links);
    if (may_register) {
      ASSERT_TRUE(agents[head]->backends().records.view());
    }
  }
  Result<std::string> fence(const std::string& head) {
    return agents["c1n3"]->fencing().fence_head(head, Mode::kCommit);
  }
  fs::MountEntry mount() {
    const auto mounts = fs::list_mounts(builder.store, kFs);
    EXPECT_TRUE(mounts && mounts->size() == 1);
    return mounts->front();
  }
  records::FenceRecord record() { return builder.view().fences.at("c1n2").record; }

  // The next transaction that puts the victim's fence record.
  void next_step_meets(kv::TxnFault::Kind fault) {
    faults->push(fault, [](const kv::Txn& txn) {
      return std::ranges::any_of(txn.success, [](const kv::Op& op) {
        return op.kind == kv::Op::Kind::kPut && op.range.key == kv::keys::kFences + "c1n2"s;
      });
    });
  }

  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  ViewBuilder builder{kv::MemStoreOptions{.faults = faults}};
  std::unique_ptr<probe::HeadSights> sights;  // c1n3's; null: it hears nobody and misses nobody
  std::map<std::string, std::unique_ptr<Agent>> agents;
  std::vector<std::string> asked;
  std::vector<records::FenceState> states_at_proof;
  std::function<void()> during;
  bool fails = false;
  bool may_register = true;
  bool reserves = false;
  bool automatic = true;
  std::vector<std::string> lun_paths;
};

}  // namespace symnas::vnfsd::daemon
