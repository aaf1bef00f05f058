#include "vnfsd/plans/placement.h"

#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/limits.h"

namespace symnas::vnfsd {
namespace {

constexpr std::int64_t kNow = 1'000'000'000'000;

// Three heads that see all LUNs; v1, v2, v3 may be served by all, each with a primary of its own.
class PlacementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder.basics().three_heads();
    for (const char* name : {"c1n1", "c1n2", "c1n3"}) edit_head(name, [](auto&) {});
    builder.apply([](const ClusterView& v) {
      return plan_vnfs_create_set(v, {"v", {"10.0.0.101/24@nfs0"}, {"u04"}, {}, "auto"});
    });
  }
  template <class Edit>
  void edit_head(const std::string& name, const Edit& change) {
    const ClusterView view = builder.view();
    records::HeadRecord head = view.heads.at(name).record;
    head.clear_luns();
    for (const auto* lun : luns_of_volume(view, "v1")) head.add_luns(lun->uuid());
    head.set_luns_known(true);
    change(head);
    builder.put(kv::keys::kHeads + name, head.SerializeAsString());
  }
  template <class Edit>
  void edit_move(const std::string& vnfs, const Edit& change) {
    records::MoveRecord move = builder.view().moves.at(vnfs).record;
    change(move);
    builder.put(kv::keys::kMoves + vnfs, move.SerializeAsString());
  }
  void fence(const std::string& head) {
    records::FenceRecord record;
    record.set_head(head);
    record.set_incarnation("boot of " + head);
    builder.put(kv::keys::kFences + head, record.SerializeAsString());
  }
  void drain(const std::string& head) {
    builder.apply([&](const ClusterView& v) { return plan_head_drain(v, head, kNow); });
  }
  void rehost(const std::string& vnfs, const std::string& head) {
    builder.apply([&](const ClusterView& v) { return plan_vnfs_rehost(v, vnfs, head, kNow); });
  }
  // What the head's agent does at that time.
  std::string act(const std::string& head, std::int64_t at_ns = kNow) {
    Observed observed{settled, at_ns, head, ill_luns, {}, ill_networks};
    for (const auto& [vnfs, move] : builder.view().moves)
      observed.order_ages_ns[move.mod_revision] = at_ns - move.record.ordered_ns();
    const auto done = make_change(
        builder.store, [&](const ClusterView& v) { return plan_own_moves(v, head, observed); },
        Mode::kCommit);
    return done ? *done : "";
  }
  records::MoveRecord move(const std::string& vnfs) { return builder.view().moves.at(vnfs).record; }
  std::string pin(const std::string& vnfs) {
    return builder.view().vnfses.at(vnfs).record.pinned();
  }
  void serve(const std::string& vnfs, const std::string& head) {
    kv::Txn txn;
    txn.success.push_back(kv::erase(kv::keys::kMoves + vnfs));
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
    builder.owner(vnfs, head);
  }

  ViewBuilder builder;
  std::set<std::string> settled;
  std::set<std::string> ill_luns;  // of whoever acts
  std::set<std::string> ill_networks;
};

TEST_F(PlacementTest, ADrainIsRecordedOverBootsAndTakenBack) {
  drain("c1n2");
  EXPECT_TRUE(builder.view().heads.at("c1n2").record.draining());
  EXPECT_EQ(builder.view().heads.at("c1n2").record.incarnation(), "boot of c1n2");
  builder.apply([](const ClusterView& v) { return plan_head_undrain(v, "c1n2"); });
  EXPECT_FALSE(builder.view().heads.at("c1n2").record.draining());
  EXPECT_EQ(code_of(plan_head_drain(builder.view(), "c1n9", kNow)), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(plan_head_undrain(builder.view(), "c1n9")), ErrorCode::kNotFound);
}

TEST_F(PlacementTest, ADrainSaysWhatGoesWhereAndWhatStays) {
  builder.owner("v1", "c1n1").owner("v2", "c1n1").owner("v3", "c1n3");
  edit_head("c1n2", [](auto& head) { head.clear_luns(); });
  fence("c1n3");
  auto change = plan_head_drain(builder.view(), "c1n1", kNow);
  ASSERT_TRUE(change);
  EXPECT_EQ(lines_of(change->what).at(0), "head c1n1: is being drained");
  const std::string stays = lines_of(change->what).at(1);
  EXPECT_TRUE(stays.starts_with("vnfs v1: stays: ")) << stays;
  EXPECT_NE(stays.find("c1n2: it has not open: LUN0, LUN1"), std::string::npos) << stays;
  EXPECT_NE(stays.find("; c1n3: it is fenced"), std::string::npos) << stays;
  edit_head("c1n2", [](auto&) {});
  change = plan_head_drain(builder.view(), "c1n1", kNow);
  ASSERT_TRUE(change);
  EXPECT_EQ(lines_of(change->what).at(1), "vnfs v1: goes to c1n2");
  EXPECT_EQ(lines_of(change->what).size(), 3u);
}

TEST_F(PlacementTest, AHeadSendsAwayWhatItsBadLunsAreNeededFor) {
  builder.owner("v1", "c1n1");
  const std::string bad = builder.view().luns.at("LUN0").record.uuid();
  ill_luns = {builder.view().luns.at("LUN3").record.uuid()};
  EXPECT_EQ(act("c1n1"), "") << "no volume of it is on that LUN";
  ill_luns = {bad};
  EXPECT_EQ(act("c1n2"), "") << "not its VNFS";
  EXPECT_NE(act("c1n1").find("reaches its LUNs badly"), std::string::npos);
  EXPECT_EQ(move("v1").from(), "c1n1");
  EXPECT_EQ(move("v1").to(), "c1n2");
  EXPECT_EQ(move("v1").cause(), records::MOVE_STORAGE);
}

TEST_F(PlacementTest, AHeadSendsAwayWhatItsBadNetworksAreNeededFor) {
  builder.owner("v1", "c1n1");
  ill_networks = {"nfs9"};
  EXPECT_EQ(act("c1n1"), "") << "no VIP of it is there";
  ill_networks = {"nfs0"};
  EXPECT_EQ(act("c1n2"), "") << "not its VNFS";
  edit_head("c1n2", [](auto& head) { head.add_ill_networks("nfs0"); });
  EXPECT_NE(act("c1n1").find("reaches its networks badly"), std::string::npos);
  EXPECT_EQ(move("v1").to(), "c1n3") << "not to one that has the fault, too";
  EXPECT_EQ(move("v1").cause(), records::MOVE_NETWORK);
}

TEST_F(PlacementTest, NothingIsSentToHeadsThatReachTheNetworkBadlyToo) {
  builder.owner("v1", "c1n1");
  ill_networks = {"nfs0"};
  for (const char* head : {"c1n1", "c1n2", "c1n3"})
    edit_head(head, [](auto& record) { record.add_ill_networks("nfs0"); });
  EXPECT_EQ(act("c1n1"), "");
  const auto order = plan_vnfs_rehost(builder.view(), "v1", "c1n2", kNow);
  ASSERT_FALSE(order);
  EXPECT_NE(order.error().message.find("reaches badly: nfs0"), std::string::npos);
}

TEST_F(PlacementTest, NothingIsSentToHeadsThatHaveTheBadLunToo) {
  builder.owner("v1", "c1n1");
  ill_luns = {builder.view().luns.at("LUN0").record.uuid()};
  for (const char* head : {"c1n2", "c1n3"}) {
    edit_head(head, [&](records::HeadRecord& record) {
      const auto seen = record.luns();
      record.clear_luns();
      for (const std::string& uuid : seen) {
        if (!ill_luns.contains(uuid)) record.add_luns(uuid);
      }
    });
  }
  EXPECT_EQ(act("c1n1"), "");
  EXPECT_TRUE(builder.view().moves.empty());
}

TEST_F(PlacementTest, TheOwnerOfADrainedHeadOrdersTwoMovesAtATime) {
  for (const char* vnfs : {"v1", "v2", "v3"}) builder.owner(vnfs, "c1n1");
  drain("c1n1");
  EXPECT_EQ(act("c1n2"), "");  // not its VNFSs
  EXPECT_NE(act("c1n1"), "");
  EXPECT_EQ(builder.view().moves.size(), 2u);
  EXPECT_EQ(move("v1").from(), "c1n1");
  EXPECT_EQ(move("v1").to(), "c1n2");
  EXPECT_EQ(move("v1").cause(), records::MOVE_DRAIN);
  EXPECT_EQ(move("v1").ordered_ns(), kNow);
  EXPECT_EQ(act("c1n1"), "");
  // Given up, and not served yet: still one of the two.
  kv::Txn released;
  released.success.push_back(kv::erase(kv::keys::kOwners + "v1"));
  ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(released), kTestDeadlineMs));
  EXPECT_EQ(act("c1n1"), "");
  serve("v1", "c1n2");
  EXPECT_NE(act("c1n1"), "");
  EXPECT_TRUE(builder.view().moves.contains("v3"));
}

TEST_F(PlacementTest, AnOrderMovesNothingBeforeItIsAnswered) {
  builder.owner("v1", "c1n1");
  drain("c1n1");
  act("c1n1");
  const ha::Assignment assignment = ha::plan(facts_of(builder.view())).at("v1");
  EXPECT_TRUE(ha::needs_order(assignment.reason)) << ha::name_of(assignment.reason);
  edit_move("v1", [](auto& m) { m.set_ready_incarnation("boot of c1n2"); });
  EXPECT_EQ(ha::plan(facts_of(builder.view())).at("v1"),
            (ha::Assignment{"c1n2", ha::Reason::kOrdered}));
}

TEST_F(PlacementTest, AnUnansweredOrderIsTakenBackAndAnotherHeadIsTried) {
  builder.owner("v1", "c1n1");
  drain("c1n1");
  act("c1n1");
  EXPECT_EQ(act("c1n1", kNow + kAnswerNs), "");
  const std::string said = act("c1n1", kNow + kAnswerNs + 1);
  EXPECT_EQ(said, "vnfs v1: is not moved to c1n2: it has not answered for 12 s");
  ASSERT_FALSE(builder.view().moves.contains("v1"));
  act("c1n1", kNow + kAnswerNs + 2);
  EXPECT_EQ(move("v1").to(), "c1n3");
  edit_move("v1", [](auto& m) { m.set_refusal("this head has no device eth1"); });
  act("c1n1", kNow + kAnswerNs + 3);
  EXPECT_EQ(act("c1n1", kNow + kAnswerNs + 4), "");  // nobody is left
  const auto why = reasons_to_stay(builder.view(), "v1", kNow + kAnswerNs + 4);
  EXPECT_EQ(why, (std::vector<std::string>{
                     "c1n2: it did not take it: it has not answered for 12 s (symnas vnfs rehost "
                     "v1 c1n2 asks it again at once)",
                     "c1n3: it did not take it: this head has no device eth1 (symnas vnfs rehost "
                     "v1 c1n3 asks it again at once)"}));
  // Later they are asked again, and their next boots at once.
  act("c1n1", kNow + kAnswerNs + kRefusalNs + 2);
  EXPECT_EQ(move("v1").to(), "c1n2");
}

TEST_F(PlacementTest, TheNextBootOfAHeadThatRefusedIsAskedAtOnce) {
  builder.owner("v1", "c1n1");
  drain("c1n1");
  act("c1n1");
  edit_move("v1", [](auto& m) { m.set_refusal("no"); });
  act("c1n1");
  edit_head("c1n2", [](auto& head) { head.set_incarnation("the next one"); });
  act("c1n1");
  EXPECT_EQ(move("v1").to(), "c1n2");
}

TEST_F(PlacementTest, AnOrderToAHeadThatCanNoMoreIsTakenBackEvenIfItWasAnswered) {
  builder.owner("v1", "c1n1");
  drain("c1n1");
  act("c1n1");
  edit_move("v1", [](auto& m) { m.set_ready_incarnation("boot of c1n2"); });
  EXPECT_EQ(act("c1n1", kNow + 2 * kAnswerNs), "");
  fence("c1n2");
  EXPECT_EQ(act("c1n1"), "vnfs v1: is not moved to c1n2: it was fenced");
  act("c1n1");
  EXPECT_EQ(move("v1").to(), "c1n3");
  drain("c1n3");
  EXPECT_EQ(act("c1n1"), "vnfs v1: is not moved to c1n3: it is being drained");
}

TEST_F(PlacementTest, AnAdministratorsOrderIsTakenBackOnlyWhenItIsForgotten) {
  builder.owner("v1", "c1n1");
  rehost("v1", "c1n2");
  edit_move("v1", [](auto& m) { m.set_refusal("no"); });
  EXPECT_EQ(act("c1n1", kNow + kOrderNs), "");
  EXPECT_NE(act("c1n1", kNow + kOrderNs + 1), "");
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_EQ(pin("v1"), "");
}

TEST_F(PlacementTest, AHeadWhoseLunsAreNotKnownYetIsNotAsked) {
  builder.owner("v1", "c1n1");
  edit_head("c1n2", [](auto& head) { head.set_luns_known(false); });
  drain("c1n1");
  act("c1n1");
  EXPECT_EQ(move("v1").to(), "c1n3");
}

TEST_F(PlacementTest, FailsBackWhenThePrimaryHasSettled) {
  builder.owner("v1", "c1n2").owner("v2", "c1n2").owner("v3", "c1n3");
  EXPECT_EQ(act("c1n2"), "");
  settled = {"c1n1"};
  EXPECT_NE(act("c1n2"), "");
  EXPECT_EQ(move("v1").to(), "c1n1");
  EXPECT_EQ(move("v1").cause(), records::MOVE_FAILBACK);
}

TEST_F(PlacementTest, ManualFailbackWaitsForAnOrder) {
  builder.owner("v1", "c1n2");
  settled = {"c1n1", "c1n2", "c1n3"};
  builder.apply([](const ClusterView& v) {
    return plan_vnfs_set(v, {"v1", "manual", std::nullopt});
  });
  EXPECT_EQ(act("c1n2"), "");
  builder.apply([](const ClusterView& v) { return plan_vnfs_failback(v, "v1", kNow); });
  EXPECT_EQ(move("v1").to(), "c1n1");
  EXPECT_EQ(move("v1").cause(), records::MOVE_ADMINISTRATOR);
  EXPECT_EQ(code_of(plan_vnfs_set(builder.view(), {"v1", "never", std::nullopt})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(plan_vnfs_set(builder.view(), {"v9", "auto", std::nullopt})),
            ErrorCode::kNotFound);
}

TEST_F(PlacementTest, ARehostAwayFromThePrimarySticksUntilItIsToldToFailBack) {
  builder.owner("v1", "c1n1");
  settled = {"c1n1", "c1n2", "c1n3"};
  rehost("v1", "c1n2");
  EXPECT_EQ(pin("v1"), "c1n2");
  serve("v1", "c1n2");
  EXPECT_EQ(act("c1n2"), "");
  const auto set = plan_vnfs_set(builder.view(), {"v1", "auto", std::nullopt});
  ASSERT_TRUE(set);
  EXPECT_NE(set->what.find("symnas vnfs failback v1"), std::string::npos) << set->what;
  builder.apply([](const ClusterView& v) { return plan_vnfs_failback(v, "v1", kNow); });
  EXPECT_EQ(pin("v1"), "");
  EXPECT_EQ(move("v1").to(), "c1n1");
}

TEST_F(PlacementTest, APinEndsWithTheHeadThatItNames) {
  builder.owner("v1", "c1n1");
  rehost("v1", "c1n2");
  EXPECT_EQ(act("c1n1"), "");  // on its way there
  serve("v1", "c1n3");         // c1n2 was lost
  EXPECT_NE(act("c1n3"), "");
  EXPECT_EQ(pin("v1"), "");
}

TEST_F(PlacementTest, ARehostThatIsTakenBackLeavesThePinAsItWas) {
  builder.owner("v1", "c1n1");
  rehost("v1", "c1n2");
  serve("v1", "c1n2");
  rehost("v1", "c1n3");
  EXPECT_EQ(pin("v1"), "c1n3");
  builder.apply([](const ClusterView& v) { return plan_vnfs_stay(v, "v1"); });
  EXPECT_EQ(pin("v1"), "c1n2");
}

TEST_F(PlacementTest, AStopEndsTheOrderAndLeavesThePinAsItWas) {
  builder.owner("v1", "c1n1");
  rehost("v1", "c1n2");
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "v1", WantedState::kStopped); });
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_EQ(pin("v1"), "");
}

TEST_F(PlacementTest, ARehostToThePrimaryPinsNothing) {
  builder.owner("v1", "c1n2");
  rehost("v1", "c1n1");
  EXPECT_EQ(pin("v1"), "");
  EXPECT_TRUE(plan_vnfs_rehost(builder.view(), "v2", "c1n1", kNow, Pin::kNo));
}

TEST_F(PlacementTest, FailbackTakesTheFirstThatCan) {
  builder.owner("v1", "c1n3");
  drain("c1n1");
  builder.apply([](const ClusterView& v) { return plan_vnfs_failback(v, "v1", kNow); });
  EXPECT_EQ(move("v1").to(), "c1n2");
  serve("v1", "c1n2");
  const auto there = plan_vnfs_failback(builder.view(), "v1", kNow);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->what, "vnfs v1: c1n2 serves it, the first of its heads that can");
  EXPECT_TRUE(there->txn.success.empty());
  EXPECT_EQ(code_of(plan_vnfs_failback(builder.view(), "v9", kNow)), ErrorCode::kNotFound);
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "v1", WantedState::kStopped); });
  serve("v1", "c1n3");
  EXPECT_EQ(code_of(plan_vnfs_failback(builder.view(), "v1", kNow)), ErrorCode::kBusy);
}

TEST_F(PlacementTest, NothingIsMovedToAHeadThatIsBeingDrained) {
  builder.owner("v1", "c1n1");
  drain("c1n2");
  const auto refused = plan_vnfs_rehost(builder.view(), "v1", "c1n2", kNow);
  ASSERT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("symnas head undrain c1n2"), std::string::npos);
}

// Both have read the same records. One commits; the other one plans again and is told.
TEST_F(PlacementTest, OfTwoOrdersAtOnceOneWins) {
  builder.owner("v1", "c1n1");
  int plans = 0;
  const auto other = [&](const ClusterView& v) {
    auto change = plan_vnfs_rehost(v, "v1", "c1n3", kNow);
    if (plans++ == 0) rehost("v1", "c1n2");
    return change;
  };
  const auto lost = make_change(builder.store, other, Mode::kCommit);
  ASSERT_EQ(code_of(lost), ErrorCode::kBusy);
  EXPECT_NE(lost.error().message.find("it is being moved to c1n2"), std::string::npos);
  EXPECT_EQ(plans, 2);
  EXPECT_EQ(move("v1").to(), "c1n2");
}

TEST_F(PlacementTest, OfADrainAndARehostThereAtOnceOneWins) {
  builder.owner("v1", "c1n1");
  bool raced = false;
  const auto racing = [&](const ClusterView& v) {
    auto change = plan_vnfs_rehost(v, "v1", "c1n2", kNow);
    if (!std::exchange(raced, true)) drain("c1n2");
    return change;
  };
  EXPECT_EQ(code_of(make_change(builder.store, racing, Mode::kCommit)), ErrorCode::kBusy);
  EXPECT_TRUE(builder.view().moves.empty());
}

TEST_F(PlacementTest, AnAgentsOrderGivesWayToAnAdministrators) {
  builder.owner("v1", "c1n1");
  drain("c1n1");
  bool raced = false;
  const Observed observed{{}, kNow};
  const auto racing = [&](const ClusterView& v) {
    auto change = plan_own_moves(v, "c1n1", observed);
    if (!std::exchange(raced, true)) rehost("v1", "c1n3");
    return change;
  };
  EXPECT_EQ(code_of(make_change(builder.store, racing, Mode::kCommit)), ErrorCode::kNotFound);
  EXPECT_EQ(move("v1").to(), "c1n3");
}

TEST_F(PlacementTest, ASetIsOneVnfsForEachHeadInRotation) {
  const ClusterView view = builder.view();
  ASSERT_EQ(view.vnfses.size(), 3u);
  const records::VnfsRecord& second = view.vnfses.at("v2").record;
  EXPECT_EQ(std::vector<std::string>(second.heads().begin(), second.heads().end()),
            (std::vector<std::string>{"c1n2", "c1n3", "c1n1"}));
  EXPECT_EQ(second.vips(0).address(), "10.0.0.102");
  EXPECT_EQ(second.vips(0).prefix_length(), 24u);
  EXPECT_EQ(second.failback(), records::FAILBACK_AUTO);
  std::set<std::uint32_t> ids;
  for (const auto& [name, vnfs] : view.vnfses) ids.insert(vnfs.record.vnfs_id());
  EXPECT_EQ(ids, (std::set<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(view.counters.at("vnfs").record, 4u);
}

TEST_F(PlacementTest, ASetIsMadeAsAWholeOrNotAtAll) {
  const auto refused = [&](const VnfsSetRequest& request) {
    const auto change = plan_vnfs_create_set(builder.view(), request);
    return std::make_pair(code_of(change), change ? "" : change.error().message);
  };
  const VnfsSetRequest fine{"w", {"10.0.0.111/24@nfs0"}, {"u04"}, {"c1n3", "c1n1"}, "manual"};
  const auto made = plan_vnfs_create_set(builder.view(), fine);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->what,
            "vnfs w1: created on c1n3 with 10.0.0.111/24\n"
            "vnfs w2: created on c1n1 with 10.0.0.112/24");
  VnfsSetRequest r = fine;
  r.prefix = "v";
  EXPECT_EQ(refused(r).first, ErrorCode::kAlreadyExists);
  r = fine;
  r.vip_ranges = {"10.0.0.100/24@nfs0"};  // its second one is v1's
  EXPECT_EQ(refused(r).first, ErrorCode::kBusy);
  r.vip_ranges = {"10.0.0.254/24@nfs0"};  // its second one is the broadcast address
  EXPECT_EQ(refused(r).first, ErrorCode::kInvalidArgument);
  r.vip_ranges = {"10.0.0.111/24@nfs0", "10.0.0.112/24@nfs0"};  // they overlap
  EXPECT_EQ(refused(r).first, ErrorCode::kBusy);
  r.vip_ranges = {"10.0.0.111/24"};
  EXPECT_NE(refused(r).second.find("10.0.0.101/24@NETWORK"), std::string::npos);
  r.vip_ranges = {"10.0.0.111/24@nfs9"};
  EXPECT_EQ(refused(r).first, ErrorCode::kNotFound);
  r = fine;
  r.heads = {"c1n1", "c1n9"};
  EXPECT_EQ(refused(r).first, ErrorCode::kNotFound);
  r = fine;
  r.failback = "soon";
  EXPECT_EQ(refused(r).first, ErrorCode::kInvalidArgument);
}

// v2's primary is being fenced: its first backup starts a standby, the other head does not.
TEST_F(PlacementTest, WhatIsBeingFencedFallsToItsBackup) {
  records::OwnerRecord owner;
  owner.set_head("c1n2");
  owner.set_incarnation("boot of c1n2");
  owner.set_epoch(7);
  builder.put(kv::keys::kOwners + "v2", owner.SerializeAsString());
  EXPECT_TRUE(falling_to(builder.view(), "c1n3").empty());
  fence("c1n2");
  EXPECT_EQ(falling_to(builder.view(), "c1n3"), std::set<std::string>{"v2"});
  EXPECT_TRUE(falling_to(builder.view(), "c1n1").empty());
  EXPECT_TRUE(falling_to(builder.view(), "c1n2").empty());
  records::FenceRecord failed = builder.view().fences.at("c1n2").record;
  failed.set_state(records::FENCE_FAILED);
  builder.put(kv::keys::kFences + "c1n2", failed.SerializeAsString());
  EXPECT_TRUE(falling_to(builder.view(), "c1n3").empty());
}

}  // namespace
}  // namespace symnas::vnfsd
