// Levels: what older versions would not know, and when they are shut out.
#include "vnfsd/plans/levels.h"

#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd {
namespace {

class LevelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder.three_heads().basics().vnfs1({"c1n2", "c1n1"});
    for (const char* head : {"c1n1", "c1n2", "c1n3"}) set_head(head, level::kOwn);
    set_cluster(0);
  }
  void set_cluster(std::uint32_t cluster_level) {
    records::ClusterRecord record = builder.view().cluster.record;
    record.set_level(cluster_level);
    builder.put(kv::keys::kCluster, record.SerializeAsString());
  }
  void set_head(const std::string& name, std::uint32_t head_level) {
    records::HeadRecord record = builder.view().heads.at(name).record;
    record.set_level(head_level);
    record.set_agent_started_ns(5);
    record.set_level_of_ns(5);
    record.set_version("0.9");
    builder.put(kv::keys::kHeads + name, record.SerializeAsString());
  }
  void set_owner(std::uint32_t instance_level) {
    records::OwnerRecord record;
    record.set_head("c1n2");
    record.set_epoch(7);
    record.set_level(instance_level);
    builder.put(kv::keys::kOwners + "vnfs1", record.SerializeAsString());
  }
  ViewBuilder builder;
};

TEST_F(LevelsTest, RaisedWhenAllHaveIt) {
  set_owner(level::kOwn);
  EXPECT_EQ(possible_level(builder.view()), level::kOwn);
  builder.apply(plan_level_raise);
  EXPECT_EQ(builder.view().cluster.record.level(), level::kOwn);
  EXPECT_EQ(code_of(plan_level_raise(builder.view())), ErrorCode::kAlreadyExists);
}

TEST_F(LevelsTest, AHeadThatStaysOldIsNamed) {
  set_head("c1n3", 0);
  EXPECT_EQ(possible_level(builder.view()), level::kFirst);
  const auto refused = plan_level_raise(builder.view());
  ASSERT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("head c1n3: has run version 0.9"), std::string::npos);
}

TEST_F(LevelsTest, WhatADowngradedHeadLeftOfItsRecordDoesNotCount) {
  records::HeadRecord record = builder.view().heads.at("c1n3").record;
  record.set_agent_started_ns(6);  // by a version that knows of no level
  builder.put(kv::keys::kHeads + "c1n3", record.SerializeAsString());
  EXPECT_EQ(code_of(plan_level_raise(builder.view())), ErrorCode::kBusy);
  set_owner(0);
  records::HeadRecord owner = builder.view().heads.at("c1n2").record;
  owner.set_agent_started_ns(6);
  builder.put(kv::keys::kHeads + "c1n2", owner.SerializeAsString());
  EXPECT_EQ(code_of(plan_vnfs_restart(builder.view(), "vnfs1", std::nullopt)),
            ErrorCode::kNotSupported);
}

TEST_F(LevelsTest, AnInstanceThatStaysOldIsNamed) {
  set_owner(0);
  const auto refused = plan_level_raise(builder.view());
  ASSERT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("symnas head upgrade c1n2"), std::string::npos);
}

TEST_F(LevelsTest, AHeadThatRegistersMeanwhileIsSeen) {
  const ClusterView before = builder.view();
  const auto change = plan_level_raise(before);
  ASSERT_TRUE(change);
  set_head("c1n1", 0);
  const auto done =
      kv::txn_blocking(builder.store, guarded(before, *change, "id"), kTestDeadlineMs);
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->succeeded);
}

TEST_F(LevelsTest, AHeadThatJoinsMeanwhileIsSeen) {
  const ClusterView before = builder.view();
  const auto change = plan_level_raise(before);
  ASSERT_TRUE(change);
  builder.head("c1n4", "10.99.0.4");  // of an earlier version
  const auto done =
      kv::txn_blocking(builder.store, guarded(before, *change, "id"), kTestDeadlineMs);
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->succeeded);
}

TEST_F(LevelsTest, ALaterClusterIsNotEntered) {
  EXPECT_TRUE(check_level(builder.view(), "0.9"));
  set_cluster(level::kOwn + 1);
  EXPECT_EQ(code_of(check_level(builder.view(), "0.9")), ErrorCode::kNotSupported);
}

TEST_F(LevelsTest, WhatOlderOnesWouldMisreadNeedsIt) {
  const auto with_rule = [&] {
    ExportEdit edit;
    edit.name = builder.view().exports.begin()->first;
    edit.rules = std::vector<std::string>{"10.0.0.7:ro"};
    return plan_export_set(builder.view(), edit);
  };
  EXPECT_EQ(code_of(with_rule()), ErrorCode::kNotSupported);
  set_cluster(level::kExportRules);
  EXPECT_TRUE(with_rule());
}

TEST_F(LevelsTest, AclsOfAFilesystemNeedItAndStay) {
  const std::string name = builder.view().filesystems.begin()->first;
  FilesystemEdit edit;
  edit.allow_acls_and_xattrs = true;
  const auto change = [&] { return plan_filesystem_set(builder.view(), name, edit); };
  set_cluster(level::kAclsAndXattrs - 1);
  EXPECT_EQ(code_of(change()), ErrorCode::kNotSupported);
  EXPECT_FALSE(allows_acls_and_xattrs(builder.view()));
  set_cluster(level::kAclsAndXattrs);
  EXPECT_TRUE(allows_acls_and_xattrs(builder.view()));
  builder.apply([&](const ClusterView& view) { return plan_filesystem_set(view, name, edit); });
  edit = {};
  edit.access_times = AccessTimes::kOff;
  builder.apply([&](const ClusterView& view) { return plan_filesystem_set(view, name, edit); });
  EXPECT_TRUE(builder.view().filesystems.at(name).record.acls_and_xattrs());
}

TEST_F(LevelsTest, RestartMeansTheInstanceThatRuns) {
  EXPECT_EQ(code_of(plan_vnfs_restart(builder.view(), "vnfs1", std::nullopt)), ErrorCode::kBusy);
  set_owner(0);
  builder.apply([](const ClusterView& view) { return plan_vnfs_restart(view, "vnfs1", Epoch(7)); });
  EXPECT_EQ(code_of(plan_vnfs_restart(builder.view(), "vnfs1", Epoch(6))), ErrorCode::kConflict);
  EXPECT_EQ(builder.view().vnfses.at("vnfs1").record.restarted_epoch(), 7);
  builder.apply([](const ClusterView& view) {
    return plan_vnfs_state(view, "vnfs1", WantedState::kStopped);
  });
  EXPECT_EQ(code_of(plan_vnfs_restart(builder.view(), "vnfs1", std::nullopt)), ErrorCode::kBusy);
}

}  // namespace
}  // namespace symnas::vnfsd
