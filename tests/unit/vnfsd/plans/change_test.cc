#include "vnfsd/plans/change.h"

#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd {
namespace {

using Kind = kv::TxnFault::Kind;

Planner network(const std::string& name, const std::string& device) {
  return [=](const ClusterView& view) { return plan_network_create(view, {name, device, 0, ""}); };
}

bool is_change(const kv::Txn& txn) { return !txn.compares.empty(); }

class ChangeTest : public ::testing::Test {
 protected:
  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  ViewBuilder builder{{.server = nullptr, .scheduler = nullptr, .faults = faults}};
};

TEST_F(ChangeTest, CommitsAndCountsTheVersion) {
  EXPECT_EQ(*make_change(builder.store, network("nfs0", "eth1"), Mode::kCommit),
            "network nfs0: created on eth1");
  EXPECT_EQ(builder.view().cluster.record.config_version(), 1u);
  EXPECT_TRUE(builder.view().networks.contains("nfs0"));
}

TEST_F(ChangeTest, DryRunChangesNothing) {
  const auto before = builder.store.server().revision();
  EXPECT_TRUE(make_change(builder.store, network("nfs0", "eth1"), Mode::kDryRun));
  EXPECT_EQ(builder.store.server().revision(), before);
}

TEST_F(ChangeTest, ComparesTheClusterRecordItWasPlannedFrom) {
  const ClusterView view = builder.view();
  const kv::Txn txn = guarded(view, *network("nfs0", "eth1")(view), "id");
  ASSERT_EQ(txn.compares.size(), 1u);
  EXPECT_EQ(txn.compares[0].range, kv::single_key(kv::keys::kCluster));
  EXPECT_EQ(txn.compares[0].target, kv::Compare::Target::kModRevision);
  EXPECT_EQ(txn.compares[0].number, view.cluster.mod_revision.value());
  ASSERT_EQ(txn.success.size(), 2u);
}

// Two administrators at once: the second one's plan meets the first one's result.
TEST_F(ChangeTest, OvertakenChangeIsPlannedAgainAndSeesTheOther) {
  bool overtaken = false;
  const auto racing = [&](const ClusterView& view) {
    auto change = plan_network_create(view, {"nfs0", "eth1", 0, ""});
    if (!std::exchange(overtaken, true)) builder.apply(network("nfs0", "eth7"));
    return change;
  };
  EXPECT_EQ(code_of(make_change(builder.store, racing, Mode::kCommit)), ErrorCode::kAlreadyExists);
  EXPECT_EQ(builder.view().networks.at("nfs0").record.device(), "eth7");
}

TEST_F(ChangeTest, UnrelatedOvertakingIsHarmless) {
  bool overtaken = false;
  const auto racing = [&](const ClusterView& view) {
    if (!std::exchange(overtaken, true)) builder.apply(network("other", "eth7"));
    return plan_network_create(view, {"nfs0", "eth1", 0, ""});
  };
  EXPECT_TRUE(make_change(builder.store, racing, Mode::kCommit));
  EXPECT_EQ(builder.view().networks.size(), 2u);
}

TEST_F(ChangeTest, GivesUpWhenOthersAlwaysComeFirst) {
  int others = 0;
  const auto racing = [&](const ClusterView& view) {
    if (others++ % 2 == 0) {
      builder.apply(network("other", "eth2"));
    } else {
      builder.apply([](const ClusterView& v) { return plan_network_remove(v, "other"); });
    }
    return plan_network_create(view, {"nfs0", "eth1", 0, ""});
  };
  EXPECT_EQ(code_of(make_change(builder.store, racing, Mode::kCommit)), ErrorCode::kConflict);
}

TEST_F(ChangeTest, LostReplyIsRecognisedAsDone) {
  faults->push(Kind::kReplyLost, is_change);
  EXPECT_TRUE(make_change(builder.store, network("nfs0", "eth1"), Mode::kCommit));
  EXPECT_EQ(builder.view().cluster.record.config_version(), 1u);
}

TEST_F(ChangeTest, LostRequestIsSentAgain) {
  faults->push(Kind::kRequestLost, is_change);
  EXPECT_TRUE(make_change(builder.store, network("nfs0", "eth1"), Mode::kCommit));
  EXPECT_EQ(builder.view().cluster.record.config_version(), 1u);
}

TEST_F(ChangeTest, DuplicateChangesNothing) {
  faults->push(Kind::kDuplicate, is_change);
  EXPECT_TRUE(make_change(builder.store, network("nfs0", "eth1"), Mode::kCommit));
  builder.store.run_late();
  EXPECT_EQ(builder.view().cluster.record.config_version(), 1u);
}

TEST_F(ChangeTest, FullEtcdIsNoSpace) {
  builder.store.server().set_quota(kv::MemServer::Quota::kFull);
  EXPECT_EQ(code_of(make_change(builder.store, network("nfs0", "eth1"), Mode::kCommit)),
            ErrorCode::kNoSpace);
}

// etcd executes the change that takes it over its quota, and then says that there is no space.
TEST_F(ChangeTest, AChangeThatWasRefusedAndMadeIsDone) {
  faults->push(Kind::kOverQuota, is_change);
  EXPECT_EQ(*make_change(builder.store, network("nfs0", "eth1"), Mode::kCommit),
            "network nfs0: created on eth1");
  EXPECT_EQ(builder.view().cluster.record.config_version(), 1u);
}

TEST_F(ChangeTest, ARefusalAfterALostRequestLeavesTheOutcomeOpen) {
  faults->push(Kind::kCommitLate, is_change);
  int sent = 0;
  faults->push(Kind::kUnavailable, [&](const kv::Txn& txn) {
    if (is_change(txn) && ++sent == 1)
      builder.store.server().set_quota(kv::MemServer::Quota::kFull);
    return false;
  });
  EXPECT_EQ(code_of(make_change(builder.store, network("nfs0", "eth1"), Mode::kCommit)),
            ErrorCode::kUnknownOutcome);
}

TEST_F(ChangeTest, CounterCountsAndEnds) {
  ClusterView view = builder.view();
  kv::Txn txn;
  EXPECT_EQ(*take_from_counter(view, kv::keys::kExportIdCounter, 2, txn), 1u);
  ASSERT_EQ(txn.success.size(), 1u);
  EXPECT_EQ(txn.success[0].value, "2");
  builder.put(kv::keys::kExportIdCounter, "3");
  EXPECT_EQ(code_of(take_from_counter(builder.view(), kv::keys::kExportIdCounter, 2, txn)),
            ErrorCode::kNoSpace);
}

TEST_F(ChangeTest, DamagedRecordIsCorrupt) {
  builder.put(kv::keys::kNetworks + "x", "\xff\xff");
  EXPECT_EQ(code_of(read_view(builder.store, kTestDeadlineMs)), ErrorCode::kCorrupt);
}

TEST_F(ChangeTest, RecordsOfANewerVersionAreLeftAlone) {
  builder.put("c/quota/x", "whatever");
  EXPECT_TRUE(read_view(builder.store, kTestDeadlineMs));
}

}  // namespace
}  // namespace symnas::vnfsd
