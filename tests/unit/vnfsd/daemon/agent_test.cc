// A whole agent: it registers its head, follows the records, and says what it does.
#include "vnfsd/daemon/agent.h"

#include <thread>

#include <nlohmann/json.hpp>

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/admission.h"

namespace symnas::vnfsd::daemon {
namespace {

class AgentTest : public ::testing::Test {
 protected:
  // A claim fails when the agent itself changes a record beside it (it ends orders that are none
  // any more, and notes what it sees of its LUNs); a supervisor tries again, too.
  Result<instance::InstancePlan> claim(std::optional<Epoch> epoch) {
    auto claimed = agent->host().claim("vnfs1", epoch);
    for (int i = 0; i < 5 && !claimed && claimed.error().code == ErrorCode::kConflict; ++i)
      claimed = agent->host().claim("vnfs1", epoch);
    return claimed;
  }

  // vnfs1's primary is another head, so that the agent starts no supervisor: the tests are the
  // supervisor.
  void SetUp() override {
    builder.three_heads().basics().vnfs1({"c1n2", "c1n1", "c1n3"});
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = "c1n3";
    config.head_address = "10.99.0.3";
    config.daemon.run_dir = ::testing::TempDir() + "symnas-ownership";
    agent = std::make_unique<Agent>(builder.store, env::system_clock(), config, "boot");
    ASSERT_TRUE(
        agent->backends()
            .records.view());  // the head is registered: no more transactions of the agent's own
  }
  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  ViewBuilder builder{{.server = nullptr, .scheduler = nullptr, .faults = faults}};
  Config config;
  std::unique_ptr<Agent> agent;
};

TEST_F(AgentTest, RegistersItsHead) {
  const ClusterView view = builder.view();
  EXPECT_EQ(view.heads.at("c1n3").record.incarnation(), "boot");
  EXPECT_EQ(view.heads.at("c1n3").record.address(), "10.99.0.3");
}

// It was removed; `admission`: of the machine that is invited since.
class RemovedHeadTest : public AgentTest {
 protected:
  void SetUp() override {
    AgentTest::SetUp();
    builder.apply([](const ClusterView&) {
      records::RemovedHeadRecord removed;
      removed.set_name("c1n3");
      Change change{"removed", {}};
      change.txn.success.push_back(kv::erase(kv::keys::kHeads + "c1n3"));
      change.txn.success.push_back(
          kv::put(kv::keys::kRemoved + "c1n3", removed.SerializeAsString()));
      return Result<Change>(change);
    });
    for (int i = 0; i < 500 && agent->backends().records.view(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  void invite(const std::string& admission) {
    builder.apply([&](const ClusterView&) { return plan_head_admit("c1n3", admission, 1); });
  }
  // Of the machine that is invited, or of one that is not.
  std::unique_ptr<Agent> start(const std::string& admission, const std::string& incarnation) {
    config.admission = admission;
    return std::make_unique<Agent>(builder.store, env::system_clock(), config, incarnation);
  }
  Revision claimed_by_another() {
    records::OwnerRecord record;
    record.set_head("c1n3");
    record.set_epoch(9);
    record.set_vnfs_id(1);
    builder.put(kv::keys::kOwners + "vnfs1", record.SerializeAsString());
    return builder.view().owners.at("vnfs1").mod_revision;
  }
};

TEST_F(RemovedHeadTest, SaysSo) {
  const auto answer = agent->backends().records.view();
  EXPECT_EQ(code_of(answer), ErrorCode::kForeign);
  EXPECT_NE(answer.error().message.find("was removed from the cluster"), std::string::npos);
  const Planner any = [](const ClusterView&) { return Result<Change>(Change{"any", {}}); };
  EXPECT_EQ(code_of(agent->backends().records.change(any, Mode::kCommit)), ErrorCode::kForeign);
  EXPECT_FALSE(builder.view().heads.contains("c1n3"));
}

TEST_F(RemovedHeadTest, TheInvitedMachineTakesTheName) {
  invite("new");
  EXPECT_TRUE(builder.view().removed.contains("c1n3"));  // until it is there
  const auto other = start("new", "its boot");
  ASSERT_TRUE(other->backends().records.view());
  EXPECT_FALSE(builder.view().removed.contains("c1n3"));
  EXPECT_EQ(builder.view().heads.at("c1n3").record.incarnation(), "its boot");
}

TEST_F(RemovedHeadTest, TheOldMachineNeverActsForTheNameAgain) {
  invite("new");
  const auto other = start("new", "its boot");
  ASSERT_TRUE(other->backends().records.view());
  EXPECT_EQ(code_of(agent->backends().records.view()), ErrorCode::kForeign);
  EXPECT_EQ(code_of(claim(std::nullopt)), ErrorCode::kForeign);
  const auto rebooted = start("", "a later boot");
  EXPECT_EQ(code_of(rebooted->backends().records.view()), ErrorCode::kForeign);
  EXPECT_EQ(builder.view().heads.at("c1n3").record.incarnation(), "its boot");
  // What the new one owns is not its own: nothing is proved or given up here.
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  const Revision owned = claimed_by_another();
  EXPECT_TRUE(agent->host().fence("vnfs1"));
  EXPECT_TRUE(agent->host().release("vnfs1", {}));
  EXPECT_EQ(builder.view().owners.at("vnfs1").mod_revision, owned);
}

TEST_F(RemovedHeadTest, ABootThatWasFencedComesInUnderNoName) {
  builder.put(kv::keys::kFencedBoots + "its boot", records::FencedBootRecord().SerializeAsString());
  invite("new");
  const auto fenced = start("new", "its boot")->backends().records.view();
  EXPECT_EQ(code_of(fenced), ErrorCode::kForeign);
  EXPECT_NE(fenced.error().message.find("reboot it"), std::string::npos);
  config.head_name = "c1n9";
  EXPECT_EQ(code_of(start("", "its boot")->backends().records.view()), ErrorCode::kForeign);
  EXPECT_FALSE(builder.view().heads.contains("c1n9"));
  EXPECT_TRUE(start("", "the next boot")->backends().records.view());
}

TEST_F(AgentTest, WhatIsDoneIsAnEvent) {
  ASSERT_TRUE(agent->backends().records.change(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); },
      Mode::kCommit));
  const auto page = agent->backends().status.events(Revision{});
  ASSERT_TRUE(page);
  std::vector<std::string> kinds;
  for (const auto& event : (*page)["events"]) kinds.push_back(event["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"head-started", "change"}));
  EXPECT_EQ((*page)["events"][1]["vnfs"], "vnfs1");
}

TEST_F(AgentTest, StatusNamesEveryPart) {
  const nlohmann::json status = agent->backends().status.local_status();
  EXPECT_EQ(status["head"], "c1n3");
  for (const char* part : {"instances", "etcd", "quota", "luns", "networks", "failover",
                           "fence_agent", "silent", "stalls", "arrivals"}) {
    EXPECT_TRUE(status.contains(part)) << part;
  }
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
