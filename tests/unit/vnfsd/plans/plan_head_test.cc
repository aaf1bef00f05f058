// Removal of heads, and the heads of a VNFS.
#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/admission.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd {
namespace {

class PlanHeadTest : public ::testing::Test {
 protected:
  // vnfs1 has the heads c1n2 and c1n1, and is on c1n2.
  void SetUp() override {
    builder.three_heads().basics().vnfs1({"c1n2", "c1n1"});
    builder.owner("vnfs1", "c1n2");
  }
  Result<Change> remove(const std::string& name, TakeOff take_off = TakeOff::kYes) {
    return plan_head_remove(builder.view(), name, take_off, 5);
  }
  void drain(const std::string& name) {
    builder.apply([&](const ClusterView& v) { return plan_head_drain(v, name, 1); });
  }
  void fence(const std::string& name, records::FenceState state) {
    records::FenceRecord record;
    record.set_head(name);
    record.set_incarnation("boot of " + name);
    record.set_state(state);
    builder.put(kv::keys::kFences + name, record.SerializeAsString());
  }
  std::vector<std::string> heads() {
    const auto view = builder.view();
    const auto& names = view.vnfses.at("vnfs1").record.heads();
    return {names.begin(), names.end()};
  }
  ViewBuilder builder;
};

using Texts = std::vector<std::string>;

TEST_F(PlanHeadTest, OnlyOneThatIsOutOfService) {
  EXPECT_EQ(code_of(remove("none")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(remove("c1n3")), ErrorCode::kBusy);
  drain("c1n3");
  EXPECT_TRUE(remove("c1n3", TakeOff::kNo));
}

TEST_F(PlanHeadTest, OneThatHasAVnfsStays) {
  drain("c1n2");
  const auto refused = remove("c1n2");
  EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("has VNFS vnfs1"), std::string::npos);
  fence("c1n2", records::FENCE_DONE);  // but the VNFS is still its own
  EXPECT_EQ(code_of(remove("c1n2")), ErrorCode::kBusy);
}

TEST_F(PlanHeadTest, UnderAnotherDeciderOneThatHasNothingNeedsNoDrain) {
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_PACEMAKER); });
  const auto refused = remove("c1n2");
  EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("has VNFS vnfs1"), std::string::npos);
  EXPECT_NE(refused.error().message.find("pcs node standby"), std::string::npos);
  EXPECT_TRUE(remove("c1n1"));
  builder.apply([](const ClusterView& v) {
    return plan_leave(v, {records::DECIDER_PACEMAKER, "vnfs1", "c1n2"});
  });
  kv::Txn txn;
  txn.success.push_back(kv::erase(kv::keys::kOwners + std::string("vnfs1")));
  ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  EXPECT_TRUE(remove("c1n2"));
  records::VnfsRecord record = builder.view().vnfses.at("vnfs1").record;
  record.set_decided_head("c1n1");
  record.set_decided_incarnation("boot of c1n1");
  builder.put(kv::keys::kVnfs + std::string("vnfs1"), record.SerializeAsString());
  EXPECT_EQ(code_of(remove("c1n1")), ErrorCode::kBusy) << "it is to serve it";
}

TEST_F(PlanHeadTest, OneThatWasFencedGoes) {
  fence("c1n3", records::FENCE_RUNNING);
  EXPECT_EQ(code_of(remove("c1n3")), ErrorCode::kBusy);
  fence("c1n3", records::FENCE_DONE);
  builder.apply([&](const ClusterView&) { return remove("c1n3"); });
  const ClusterView view = builder.view();
  EXPECT_FALSE(view.heads.contains("c1n3"));
  // That boot stays away, under this name and any other.
  EXPECT_TRUE(view.fences.contains("c1n3"));
  EXPECT_EQ(view.fenced_boots.at("boot of c1n3").record.head(), "c1n3");
  EXPECT_EQ(view.removed.at("c1n3").record.removed_ns(), 5);
}

TEST_F(PlanHeadTest, OneThatNeverStartedGoes) {
  records::HeadRecord head;
  head.set_name("c1n9");
  builder.put(kv::keys::kHeads + "c1n9", head.SerializeAsString());
  EXPECT_TRUE(remove("c1n9", TakeOff::kNo));
}

TEST_F(PlanHeadTest, VnfsesLoseItByConsentOnly) {
  drain("c1n1");
  EXPECT_EQ(code_of(remove("c1n1", TakeOff::kNo)), ErrorCode::kBusy);
  builder.apply([&](const ClusterView&) { return remove("c1n1"); });
  EXPECT_EQ(heads(), Texts{"c1n2"});
  // Where the LUNs are found is not forgotten with the head that imported them.
  EXPECT_EQ(builder.view().heads.at("c1n2").record.lun_paths(0), "/l");
}

TEST_F(PlanHeadTest, NeitherTheLastOneNorTheOnlyOneOfAVnfs) {
  drain("c1n1");
  builder.apply([&](const ClusterView&) { return remove("c1n1"); });
  builder.put(kv::keys::kOwners + "vnfs1", records::OwnerRecord().SerializeAsString());
  drain("c1n2");
  EXPECT_EQ(code_of(remove("c1n2")), ErrorCode::kBusy);
  ViewBuilder lone;
  EXPECT_EQ(code_of(plan_head_remove(lone.view(), "c1n1", TakeOff::kYes, 5)), ErrorCode::kBusy);
}

TEST_F(PlanHeadTest, OneThatIsMovedToStays) {
  records::MoveRecord move;
  move.set_from("c1n2");
  move.set_to("c1n1");
  builder.put(kv::keys::kMoves + "vnfs1", move.SerializeAsString());
  drain("c1n1");
  EXPECT_EQ(code_of(remove("c1n1")), ErrorCode::kBusy);
}

TEST_F(PlanHeadTest, OneThatClaimsMeanwhileStays) {
  drain("c1n1");
  bool raced = false;
  const auto planner = [&](const ClusterView& v) {
    auto change = plan_head_remove(v, "c1n1", TakeOff::kYes, 5);
    if (!std::exchange(raced, true)) builder.owner("vnfs1", "c1n1");
    return change;
  };
  EXPECT_EQ(code_of(make_change(builder.store, planner, Mode::kCommit)), ErrorCode::kBusy);
}

// Another machine of that name is admitted, the old one is not: with or without an id of its own.
TEST_F(PlanHeadTest, WhoWasRemovedIsNotAdmittedByTheNextInvitation) {
  EXPECT_TRUE(is_admitted(builder.view(), "c1n3", ""));  // the first head has none
  builder.apply([](const ClusterView&) { return plan_head_admit("c1n3", "first", 1); });
  EXPECT_TRUE(is_admitted(builder.view(), "c1n3", "first"));
  EXPECT_FALSE(is_admitted(builder.view(), "c1n3", ""));
  drain("c1n3");
  builder.apply([&](const ClusterView&) { return remove("c1n3"); });
  EXPECT_FALSE(is_admitted(builder.view(), "c1n3", "first"));
  EXPECT_FALSE(is_admitted(builder.view(), "c1n3", ""));
  builder.apply([](const ClusterView&) { return plan_head_admit("c1n3", "second", 1); });
  const auto check = [&] {
    EXPECT_TRUE(is_admitted(builder.view(), "c1n3", "second"));
    EXPECT_FALSE(is_admitted(builder.view(), "c1n3", "first"));
    EXPECT_FALSE(is_admitted(builder.view(), "c1n3", ""));
  };
  check();
  kv::Txn joined;
  joined.success.push_back(kv::erase(kv::keys::kRemoved + "c1n3"));
  ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(joined), kTestDeadlineMs));
  check();
}

TEST_F(PlanHeadTest, HeadsOfAVnfsAreSet) {
  const auto set = [&](Texts names) {
    return plan_vnfs_set(builder.view(), {"vnfs1", std::nullopt, std::move(names)});
  };
  EXPECT_EQ(code_of(set({"c1n1", "c1n3"})), ErrorCode::kBusy);  // it is on c1n2
  EXPECT_EQ(code_of(set({"c1n2", "c1n9"})), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(set({"c1n2", "c1n2"})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(plan_vnfs_set(builder.view(), {"vnfs1", std::nullopt, std::nullopt})),
            ErrorCode::kInvalidArgument);
  builder.apply([&](const ClusterView&) { return set({"c1n3", "c1n2"}); });
  EXPECT_EQ(heads(), (Texts{"c1n3", "c1n2"}));
}

// A claim changes neither the VNFS nor the cluster record.
TEST_F(PlanHeadTest, WhoClaimsMeanwhileStaysAmongTheHeads) {
  bool raced = false;
  const auto planner = [&](const ClusterView& v) {
    auto change = plan_vnfs_set(v, {"vnfs1", std::nullopt, Texts{"c1n2"}});
    if (!std::exchange(raced, true)) builder.owner("vnfs1", "c1n1");
    return change;
  };
  EXPECT_EQ(code_of(make_change(builder.store, planner, Mode::kCommit)), ErrorCode::kBusy);
}

}  // namespace
}  // namespace symnas::vnfsd
