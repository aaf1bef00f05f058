#include "vnfsd/plans/deciders.h"

#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd {
namespace {

using Standing = DeciderSight::Standing;

constexpr std::int64_t kNow = 1'000'000'000'000;
constexpr std::int64_t kMoment = kDecidedNs + 1;

// Three heads that see all LUNs; vnfs1 is served by c1n1, and pacemaker decides.
class DecidersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder.basics().three_heads().vnfs1({"c1n1", "c1n2", "c1n3"});
    for (const char* name : {"c1n1", "c1n2", "c1n3"}) boot(name, std::string("boot of ") + name);
    own("c1n1");
    builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_PACEMAKER); });
  }
  void boot(const std::string& name, const std::string& incarnation) {
    const ClusterView view = builder.view();
    records::HeadRecord head = view.heads.at(name).record;
    head.clear_luns();
    for (const auto* lun : luns_of_volume(view, "v1")) head.add_luns(lun->uuid());
    head.set_luns_known(true);
    head.set_incarnation(incarnation);
    builder.put(kv::keys::kHeads + name, head.SerializeAsString());
  }
  void own(const std::string& head) {
    kv::Txn txn;
    txn.success.push_back(kv::erase(kv::keys::kMoves + std::string("vnfs1")));
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
    claim(head);
  }
  void claim(const std::string& head) {
    records::OwnerRecord owner;
    owner.set_head(head);
    owner.set_incarnation("boot of " + head);
    owner.set_epoch(7);
    owner.set_vnfs_id(1);
    builder.put(kv::keys::kOwners + std::string("vnfs1"), owner.SerializeAsString());
  }
  void disown() {
    kv::Txn txn;
    txn.success.push_back(kv::erase(kv::keys::kOwners + std::string("vnfs1")));
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  }
  void fence(const std::string& head) {
    records::FenceRecord record;
    record.set_head(head);
    record.set_incarnation("boot of " + head);
    builder.put(kv::keys::kFences + head, record.SerializeAsString());
  }
  void answer(const std::string& incarnation) {
    records::MoveRecord move = builder.view().moves.at("vnfs1").record;
    move.set_ready_incarnation(incarnation);
    builder.put(kv::keys::kMoves + std::string("vnfs1"), move.SerializeAsString());
  }
  ErrorCode take(const std::string& head, records::Decider by = records::DECIDER_PACEMAKER) {
    return code_of([&](const ClusterView& v) {
      return plan_take(v, DeciderOrder{by, "vnfs1", head}, now);
    });
  }
  ErrorCode leave(const std::string& head) {
    return code_of([&](const ClusterView& v) {
      return plan_leave(v, DeciderOrder{records::DECIDER_PACEMAKER, "vnfs1", head});
    });
  }
  // kDone, or why not.
  ErrorCode code_of(const Planner& planner) {
    const auto done = make_change(builder.store, planner, Mode::kCommit);
    return done ? kDone : done.error().code;
  }
  ha::Assignment assignment() { return ha::plan(facts_of(builder.view())).at("vnfs1"); }
  Standing standing(const std::string& head, const std::optional<InstanceSight>& here = {}) {
    return look_as_decider(builder.view(), "vnfs1", head, here)->standing;
  }

  static constexpr ErrorCode kDone = ErrorCode::kInternal;
  ViewBuilder builder;
  std::int64_t now = kNow;
};

TEST_F(DecidersTest, ChangingTheDeciderMovesNothing) {
  EXPECT_EQ(builder.view().cluster.record.decider(), records::DECIDER_PACEMAKER);
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kStays}));
  EXPECT_EQ(take("c1n1"), ErrorCode::kAlreadyExists);
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_KEEPALIVED); });
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kStays}));
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_BUILTIN); });
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kStays}));
  EXPECT_EQ(builder.view().vnfses.at("vnfs1").record.decided_head(), "");
}

TEST_F(DecidersTest, ChangingTheDeciderPutsEveryRecord) {
  disown();
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_BUILTIN); });
  const Revision before = builder.view().vnfses.at("vnfs1").mod_revision;
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_KEEPALIVED); });
  EXPECT_GT(builder.view().vnfses.at("vnfs1").mod_revision, before)
      << "a claim by what was known before has to fail";
}

TEST_F(DecidersTest, BackAtTheBuiltinOneWhatWouldFailBackStays) {
  builder.apply([](const ClusterView& v) {
    return plan_vnfs_set(v, {"vnfs1", "auto", std::nullopt});
  });
  own("c1n2");
  const auto change = plan_decider(builder.view(), records::DECIDER_BUILTIN);
  ASSERT_TRUE(change);
  EXPECT_NE(change->what.find("vnfs vnfs1: stays on c1n2"), std::string::npos) << change->what;
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_BUILTIN); });
  EXPECT_EQ(builder.view().vnfses.at("vnfs1").record.pinned(), "c1n2");
  ha::Facts facts = facts_of(builder.view());
  facts.settled = {"c1n1", "c1n2", "c1n3"};
  EXPECT_EQ(ha::plan(facts).at("vnfs1"), (ha::Assignment{"c1n2", ha::Reason::kStays}));
}

TEST_F(DecidersTest, ItIsNotChangedInTheMiddleOfAMove) {
  ASSERT_EQ(take("c1n2"), kDone);
  EXPECT_EQ(code_of([](const ClusterView& v) { return plan_decider(v, records::DECIDER_BUILTIN); }),
            ErrorCode::kBusy);
}

TEST_F(DecidersTest, AClusterOfALowerLevelHasNoOther) {
  records::ClusterRecord cluster = builder.view().cluster.record;
  cluster.set_level(level::kDeciders - 1);
  cluster.set_decider(records::DECIDER_BUILTIN);
  builder.put(kv::keys::kCluster, cluster.SerializeAsString());
  EXPECT_EQ(
      code_of([](const ClusterView& v) { return plan_decider(v, records::DECIDER_PACEMAKER); }),
      ErrorCode::kNotSupported);
}

TEST_F(DecidersTest, AnotherOneIsRefused) {
  EXPECT_EQ(take("c1n2", records::DECIDER_KEEPALIVED), ErrorCode::kPermission);
  EXPECT_EQ(take("c1n2", records::DECIDER_BUILTIN), ErrorCode::kPermission);
}

TEST_F(DecidersTest, TakingFromALiveHeadIsAPlannedMove) {
  ASSERT_EQ(take("c1n2"), kDone);
  EXPECT_EQ(builder.view().moves.at("vnfs1").record.to(), "c1n2");
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kStays}));
  EXPECT_EQ(standing("c1n1"), Standing::kMoving);
  EXPECT_EQ(standing("c1n2"), Standing::kMoving);
  EXPECT_EQ(take("c1n2"), ErrorCode::kAlreadyExists) << "orders are repeated";
  answer("boot of c1n2");
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n2", ha::Reason::kOrdered}));
  EXPECT_EQ(take("c1n3"), ErrorCode::kBusy) << "it is on its way";
  EXPECT_EQ(take("c1n1"), ErrorCode::kBusy);
  EXPECT_EQ(leave("c1n1"), ErrorCode::kAlreadyExists) << "the order has it given up";
  claim("c1n2");  //, and not yet served
  EXPECT_EQ(standing("c1n2"), Standing::kMoving);
  EXPECT_EQ(take("c1n2"), ErrorCode::kAlreadyExists);
  own("c1n2");
  EXPECT_EQ(standing("c1n1"), Standing::kStopped);
  EXPECT_EQ(standing("c1n2"), Standing::kServing);
  EXPECT_EQ(leave("c1n1"), ErrorCode::kAlreadyExists);
}

TEST_F(DecidersTest, AnOrderThatNobodyHasAnsweredIsTakenBack) {
  ASSERT_EQ(take("c1n2"), kDone);
  ASSERT_EQ(take("c1n1"), kDone);
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_EQ(standing("c1n1"), Standing::kServing);
  ASSERT_EQ(take("c1n2"), kDone);
  ASSERT_EQ(leave("c1n2"), kDone);
  EXPECT_TRUE(builder.view().moves.empty());
}

TEST_F(DecidersTest, AnOrderToAThirdHeadThatNobodyHasAnsweredIsReplaced) {
  ASSERT_EQ(take("c1n2"), kDone);
  EXPECT_EQ(take("c1n3"), ErrorCode::kBusy);
  now += kMoment;
  ASSERT_EQ(take("c1n3"), kDone);
  EXPECT_EQ(builder.view().moves.at("vnfs1").record.to(), "c1n3");
  answer("boot of c1n3");
  boot("c1n3", "next boot of c1n3");  // which has answered nothing
  now += kMoment;
  ASSERT_EQ(take("c1n2"), kDone);
  EXPECT_EQ(builder.view().moves.at("vnfs1").record.to(), "c1n2");
}

TEST_F(DecidersTest, WhatIsLeftIsServedByNobodyUntilItIsTaken) {
  ASSERT_EQ(leave("c1n1"), kDone);
  EXPECT_EQ(assignment(), (ha::Assignment{"", ha::Reason::kLeft}));
  EXPECT_EQ(leave("c1n1"), ErrorCode::kAlreadyExists);
  disown();
  EXPECT_EQ(assignment(), (ha::Assignment{"", ha::Reason::kLeft}));
  EXPECT_EQ(standing("c1n1"), Standing::kStopped);
  ASSERT_EQ(take("c1n3"), kDone);
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n3", ha::Reason::kDecided}));
  EXPECT_EQ(standing("c1n3"), Standing::kMoving);
}

TEST_F(DecidersTest, NothingIsTakenBeforeTheFormerOwnersEndIsProved) {
  fence("c1n1");
  ASSERT_EQ(take("c1n2"), kDone);
  EXPECT_TRUE(builder.view().moves.empty()) << "nobody would answer";
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kHeld}));
  EXPECT_EQ(falling_to(builder.view(), "c1n2"), std::set<std::string>{"vnfs1"});
  EXPECT_EQ(standing("c1n1"), Standing::kSick);
  disown();
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n2", ha::Reason::kDecided}));
}

TEST_F(DecidersTest, AHeadThatComesBackServesNothingItWasNotGivenSince) {
  disown();
  boot("c1n1", "next boot of c1n1");
  EXPECT_EQ(assignment(), (ha::Assignment{"", ha::Reason::kLeft}));
  ASSERT_EQ(take("c1n1"), kDone);
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kDecided}));
}

TEST_F(DecidersTest, WhatKeepsAVnfsFromAHeadIsSaid) {
  EXPECT_EQ(take("c1n4"), ErrorCode::kNotFound);
  fence("c1n2");
  EXPECT_EQ(take("c1n2"), ErrorCode::kBusy);
  EXPECT_EQ(code_of([](const ClusterView& v) {
              return plan_vnfs_state(v, "vnfs1", WantedState::kStopped);
            }),
            ErrorCode::kBusy);
  EXPECT_FALSE(check_builtin_decides(builder.view(), "vnfs rehost", kMoveInstead));
}

TEST_F(DecidersTest, AnOwnerKeepsWhatWasDecidedForABootThatIsOver) {
  ASSERT_EQ(take("c1n2"), kDone);
  own("c1n1");  // the order was taken back
  boot("c1n2", "next boot of c1n2");
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kStays}));
}

TEST_F(DecidersTest, AnotherHeadThatLeavesItDoesNotStopItsOwner) {
  ASSERT_EQ(take("c1n2"), kDone);
  ASSERT_EQ(leave("c1n2"), kDone);
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kStays}));
}

TEST_F(DecidersTest, AHeadThatLeavesItOnItsWayThereDoesNotStartIt) {
  ASSERT_EQ(take("c1n2"), kDone);
  answer("boot of c1n2");
  ASSERT_EQ(leave("c1n2"), kDone);
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n1", ha::Reason::kStays}));
  ASSERT_EQ(take("c1n2"), kDone);
  answer("boot of c1n2");
  disown();
  ASSERT_EQ(leave("c1n2"), kDone);
  EXPECT_EQ(assignment(), (ha::Assignment{"", ha::Reason::kLeft}));
}

TEST_F(DecidersTest, WhatNobodyHasAndNoBootIsToServeMayBeStopped) {
  disown();
  EXPECT_EQ(code_of([](const ClusterView& v) {
              return plan_vnfs_state(v, "vnfs1", WantedState::kStopped);
            }),
            ErrorCode::kBusy);
  boot("c1n1", "next boot of c1n1");
  EXPECT_EQ(code_of([](const ClusterView& v) {
              return plan_vnfs_state(v, "vnfs1", WantedState::kStopped);
            }),
            kDone);
}

TEST_F(DecidersTest, AnAnsweredOrderToAHeadThatIsGoneIsReplaced) {
  ASSERT_EQ(take("c1n2"), kDone);
  answer("boot of c1n2");
  disown();  // c1n1 has given it up, c1n2 died
  ASSERT_EQ(take("c1n3"), kDone);
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_EQ(assignment(), (ha::Assignment{"c1n3", ha::Reason::kDecided}));
}

TEST_F(DecidersTest, AFormerBootsVnfsIsNotServedByTheNextOne) {
  boot("c1n1", "next boot of c1n1");
  EXPECT_EQ(standing("c1n1"), Standing::kStopped);
}

TEST_F(DecidersTest, AStoppedOneIsNotTaken) {
  ASSERT_EQ(leave("c1n1"), kDone);
  disown();
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_EQ(take("c1n1"), ErrorCode::kBusy);
}

TEST_F(DecidersTest, AnInstanceThatDoesNotServeIsSickOrOnItsWay) {
  EXPECT_EQ(standing("c1n1", InstanceSight{InstanceStanding::kServing, ""}), Standing::kServing);
  EXPECT_EQ(standing("c1n1", InstanceSight{InstanceStanding::kStarting, ""}), Standing::kMoving);
  EXPECT_EQ(standing("c1n1", InstanceSight{InstanceStanding::kWaiting, "LUN0: Input/output error"}),
            Standing::kSick);
}

}  // namespace
}  // namespace symnas::vnfsd
