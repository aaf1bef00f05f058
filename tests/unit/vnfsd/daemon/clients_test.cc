// Agent: changes that clients notice.
#include "fsal_cluster/state/lock_record.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/daemon/agent.h"

namespace symnas::vnfsd::daemon {
namespace {

using api::Consent;

class ClientsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder.head("c1n2", "10.99.0.2");
    builder.basics();
    builder.apply([](const ClusterView& v) {
      VnfsRequest r = ViewBuilder::vnfs();
      r.heads = {"c1n2", "c1n1"};
      return plan_vnfs_create(v, r);
    });
    Config config;
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = "c1n3";
    config.head_address = "10.99.0.3";
    config.daemon.run_dir = ::testing::TempDir() + "symnas-clients";
    agent = std::make_unique<Agent>(builder.store, env::system_clock(), config, "boot");
  }
  void stop() {
    builder.apply(
        [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  }
  void connect() {
    records::ConnectionsRecord connections;
    connections.add_tcp("10.0.0.101:2049 10.0.0.7:900");
    connections.add_tcp("10.0.0.101:2049 10.0.0.7:901 77");
    connections.add_tcp("10.0.0.101:2049 10.0.0.8:900");
    builder.put(kv::keys::kConnections + "vnfs1", connections.SerializeAsString());
  }
  std::string lock(const std::string& vnfs) {
    const fs::LockOwner owner{
        .protocol = fs::LockProtocol::kNfs4, .client = "client", .owner = "owner"};
    std::string key = fs::lock_key(FsId(1), Ino(16), vnfs, owner);
    builder.put(key, "x");
    return key;
  }
  bool exists(const std::string& key) {
    const auto read = kv::range_blocking(builder.store, {key, ""}, 0, kTestDeadlineMs);
    EXPECT_TRUE(read);
    return read && !read->kvs.empty();
  }
  ViewBuilder builder;
  std::unique_ptr<Agent> agent;
};

TEST_F(ClientsTest, WhatNobodyUsesIsRemovedWithoutConsent) {
  stop();
  ASSERT_TRUE(agent->remove_vnfs("vnfs1", Consent::kNo, Mode::kCommit));
  EXPECT_TRUE(builder.view().vnfses.empty());
}

TEST_F(ClientsTest, WhatClientsUseNeedsConsent) {
  stop();
  connect();
  const std::string own = lock("vnfs1");
  const std::string other = lock("vnfs10");
  const auto refused = agent->remove_vnfs("vnfs1", Consent::kNo, Mode::kCommit);
  EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("2 clients with 3 connections, 1 lock owners"),
            std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("--yes"), std::string::npos);
  ASSERT_TRUE(agent->remove_vnfs("vnfs1", Consent::kNo, Mode::kDryRun));
  EXPECT_TRUE(exists(own));
  const auto removed = agent->remove_vnfs("vnfs1", Consent::kYes, Mode::kCommit);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_NE(removed->find("had 2 clients"), std::string::npos) << *removed;
  EXPECT_FALSE(exists(own));  // nobody could give it back
  EXPECT_TRUE(exists(other));
}

TEST_F(ClientsTest, ConsentDoesNotRemoveWhatServes) {
  EXPECT_EQ(code_of(agent->remove_vnfs("vnfs1", Consent::kYes, Mode::kCommit)), ErrorCode::kBusy);
}

TEST_F(ClientsTest, ADryMoveSaysWhoWouldNotice) {
  builder.owner("vnfs1", "c1n2");
  records::HeadRecord head = builder.view().heads.at("c1n1").record;
  for (const auto& [name, lun] : builder.view().luns) head.add_luns(lun.record.uuid());
  builder.put(kv::keys::kHeads + "c1n1", head.SerializeAsString());
  connect();
  lock("vnfs1");
  const auto told = agent->rehost_vnfs("vnfs1", "c1n1", Pin::kYes, Mode::kDryRun);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(*told,
            "vnfs vnfs1: to be moved from c1n2 to c1n1\n"
            "vnfs vnfs1: 2 clients with 3 connections, 1 lock owners with locks recorded\n"
            "vnfs vnfs1: expected pause: not known, no planned move of it is remembered");
  EXPECT_TRUE(builder.view().moves.empty());
}

TEST_F(ClientsTest, ADryMoveThatWouldBeRefusedSaysWhy) {
  builder.owner("vnfs1", "c1n2");
  const auto told = agent->rehost_vnfs("vnfs1", "c1n3", Pin::kYes, Mode::kDryRun);
  EXPECT_EQ(code_of(told), ErrorCode::kInvalidArgument);
  EXPECT_NE(told.error().message.find("not one of its heads"), std::string::npos);
}

TEST_F(ClientsTest, WhatIsDoneIsAnEvent) {
  ASSERT_TRUE(agent->view());
  ASSERT_TRUE(agent->change(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); },
      Mode::kCommit));
  const auto page = agent->events(Revision{});
  ASSERT_TRUE(page);
  std::vector<std::string> kinds;
  for (const auto& event : (*page)["events"]) kinds.push_back(event["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"head-started", "change"}));
  EXPECT_EQ((*page)["events"][1]["vnfs"], "vnfs1");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
