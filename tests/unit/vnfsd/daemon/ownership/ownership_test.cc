// Claim, local fence and release over an in-memory store, without LUNs or instances.
#include "vnfsd/daemon/ownership/ownership.h"

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {
namespace {

using Kind = kv::TxnFault::Kind;

// The transaction that takes an epoch, and no other.
bool is_claim(const kv::Txn& txn) {
  for (const kv::Op& op : txn.success) {
    if (op.range.key == kv::keys::kEpochCounter && op.kind == kv::Op::Kind::kPut) return true;
  }
  return false;
}

class OwnershipTest : public HeadWorld {
 protected:
  void SetUp() override { builder.three_heads().basics().vnfs1({"c1n2", "c1n1", "c1n3"}); }
  Result<instance::InstancePlan> claim(std::optional<Epoch> epoch) {
    return owner.claim("vnfs1", epoch);
  }

  LunSet luns{head.config.cluster_uuid};
  const Registrations registrations{head, {}, luns, [] {}};
  HistoryWriter history{head, event_writer};
  Ownership owner{{head, reader, event_writer, history, luns, registrations}};
};

TEST_F(OwnershipTest, ClaimTakesANewEpoch) {
  const auto first = claim(std::nullopt);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->epoch, Epoch(1));
  const ClusterView view = builder.view();
  EXPECT_EQ(view.owners.at("vnfs1").record.head(), "c1n3");
  EXPECT_EQ(view.owners.at("vnfs1").mod_revision, first->owner_mod_revision);
  const auto second = claim(std::nullopt);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->epoch, Epoch(2));
}

TEST_F(OwnershipTest, ARemovedHeadClaimsNothing) {
  bool compared = false;  // what it has seen may be older than its removal
  faults->push(kv::TxnFault{}, [&](const kv::Txn& txn) {
    for (const kv::Compare& compare : txn.compares) {
      compared = compared || (is_claim(txn) && compare.range.key == kv::keys::kRemoved + "c1n3");
    }
    return false;
  });
  ASSERT_TRUE(claim(std::nullopt));
  EXPECT_TRUE(compared);
  builder.put(kv::keys::kRemoved + "c1n3", records::RemovedHeadRecord().SerializeAsString());
  const auto refused = claim(std::nullopt);
  EXPECT_EQ(code_of(refused), ErrorCode::kForeign);
  EXPECT_NE(refused.error().message.find("was removed from the cluster"), std::string::npos);
}

// Who edits an export of a VNFS that nobody owns waits for nobody: the next owner has to know.
TEST_F(OwnershipTest, AClaimIsMadeWithTheExportsOfItsMoment) {
  bool compared = false;
  faults->push(kv::TxnFault{}, [&](const kv::Txn& txn) {
    for (const kv::Compare& compare : txn.compares) {
      compared = compared || (is_claim(txn) && compare.range.key == kv::keys::kExports &&
                              compare.target == kv::Compare::Target::kModRevision);
    }
    return false;
  });
  ASSERT_TRUE(claim(std::nullopt));
  EXPECT_TRUE(compared);
}

TEST_F(OwnershipTest, OnlyOneOfItsHeadsClaimsAVnfs) {
  builder.apply([](const ClusterView& v) {
    return plan_vnfs_set(v, {"vnfs1", std::nullopt, std::vector<std::string>{"c1n2", "c1n1"}});
  });
  const auto refused = claim(std::nullopt);
  EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("none of its heads"), std::string::npos);
}

TEST_F(OwnershipTest, ClaimRespectsAnotherOwner) {
  builder.owner("vnfs1", "c1n2");
  EXPECT_EQ(code_of(claim(std::nullopt)), ErrorCode::kBusy);
  EXPECT_TRUE(owner.fence("vnfs1"));        // nothing of it is here any more
  EXPECT_TRUE(owner.release("vnfs1", {}));  // not ours: left alone
  EXPECT_TRUE(builder.view().owners.contains("vnfs1"));
}

// An administrator's order that `ready`, a boot of `to`, has answered.
class OrderTest : public OwnershipTest {
 protected:
  void order(const std::string& to, const std::string& ready) {
    records::MoveRecord move;
    move.set_from("c1n1");
    move.set_to(to);
    move.set_ready_incarnation(ready);
    move.set_ordered_ns(clock.wall_ns());
    builder.put(kv::keys::kMoves + "vnfs1", move.SerializeAsString());
  }
};

TEST_F(OrderTest, WhatIsOnItsWayElsewhereIsNotClaimed) {
  order("c1n2", "boot of c1n2");
  EXPECT_EQ(code_of(claim(std::nullopt)), ErrorCode::kBusy);
  EXPECT_TRUE(builder.view().moves.contains("vnfs1"));
}

TEST_F(OrderTest, OneThatCannotBeObeyedIsOverWithTheNextClaim) {
  order("c1n2", "an older boot");
  ASSERT_TRUE(claim(std::nullopt));
  EXPECT_TRUE(builder.view().moves.empty());
}

TEST_F(OrderTest, OutlivesARestartOfTheOwner) {
  ASSERT_TRUE(claim(std::nullopt));
  order("c1n2", "");
  ASSERT_TRUE(claim(std::nullopt));
  EXPECT_TRUE(builder.view().moves.contains("vnfs1"));
}

TEST_F(OrderTest, IsOverWhenItsTargetServes) {
  ASSERT_TRUE(claim(std::nullopt));
  order("c1n3", "boot");
  EXPECT_TRUE(owner.served("vnfs1", {}));
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_TRUE(owner.served("vnfs1", {}));
}

TEST_F(OrderTest, ReleaseTellsTheNextHead) {
  ASSERT_TRUE(claim(std::nullopt));
  order("c1n2", "boot of c1n2");
  instance::Farewell farewell;
  farewell.departure.set_epoch(1);
  farewell.departure.set_kept(3);
  farewell.connections = {"10.0.0.101:2049 10.0.0.7:900"};
  farewell.unheard = {"10.0.0.101:2049 10.0.0.7:899"};
  ASSERT_TRUE(owner.release("vnfs1", farewell));
  const ClusterView view = builder.view();
  EXPECT_FALSE(view.owners.contains("vnfs1"));
  EXPECT_EQ(view.moves.at("vnfs1").record.departure().kept(), 3u);
  EXPECT_EQ(view.connections.at("vnfs1").record.tcp(0), farewell.connections[0]);
  EXPECT_EQ(view.connections.at("vnfs1").record.unheard(0), farewell.unheard[0]);
}

// c1n2 has given it up to this head, and had that epoch.
class StandbyTest : public OrderTest {
 protected:
  void given_up(std::uint64_t epoch) {
    records::MoveRecord move;
    move.set_from("c1n2");
    move.set_to("c1n3");
    move.set_ready_incarnation("an older boot");
    move.mutable_departure()->set_epoch(epoch);
    builder.put(kv::keys::kMoves + "vnfs1", move.SerializeAsString());
  }
};

TEST_F(StandbyTest, PreparingTakesAnEpochAndOwnsNothing) {
  const auto standby = owner.prepare("vnfs1");
  ASSERT_TRUE(standby) << standby.error().message;
  EXPECT_TRUE(standby->standby);
  EXPECT_TRUE(builder.view().owners.empty());
  EXPECT_NE(owner.prepare("vnfs1")->epoch, standby->epoch);
}

TEST_F(StandbyTest, ClaimsWithItsOwnEpoch) {
  const auto source = owner.prepare("vnfs1");
  given_up(source->epoch.value());
  const auto next = owner.prepare("vnfs1");
  const auto plan = claim(next->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->epoch, next->epoch);
  EXPECT_FALSE(plan->standby);
  EXPECT_EQ(builder.view().owners.at("vnfs1").record.epoch(), next->epoch.value());
}

// The source crashed and was restarted in place after the standby had been prepared.
TEST_F(StandbyTest, AnEpochThatCameTooEarlyIsNotUsed) {
  const auto standby = owner.prepare("vnfs1");
  const auto later = owner.prepare("vnfs1");
  given_up(later->epoch.value());
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, later->epoch);
}

TEST_F(StandbyTest, WithoutItsSourcesFarewellAnEpochIsNotUsed) {
  const auto standby = owner.prepare("vnfs1");
  order("c1n3", "an older boot");
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, standby->epoch);
}

// Its last owner was fenced with that epoch.
class FallingTest : public StandbyTest {
 protected:
  void left(Epoch epoch) {
    records::LeftRecord record;
    record.set_epoch(epoch.value());
    builder.put(kv::keys::kLeft + "vnfs1", record.SerializeAsString());
  }
};

TEST_F(FallingTest, AStandbyOfTheFenceClaimsWithItsOwnEpoch) {
  const auto last = owner.prepare("vnfs1");
  const auto standby = owner.prepare("vnfs1");
  left(last->epoch);
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->epoch, standby->epoch);
  EXPECT_TRUE(builder.view().left.empty()) << "an older standby must not use it";
}

TEST_F(FallingTest, AnEpochFromBeforeTheOwnersIsNotUsed) {
  const auto standby = owner.prepare("vnfs1");
  left(owner.prepare("vnfs1")->epoch);
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, standby->epoch);
}

// It was fenced on its way from an older one, whose farewell stands there yet.
TEST_F(FallingTest, TheLaterOfTwoOwnersCounts) {
  const auto first = owner.prepare("vnfs1");
  const auto standby = owner.prepare("vnfs1");
  given_up(first->epoch.value());
  left(owner.prepare("vnfs1")->epoch);
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, standby->epoch);
}

// Its owner record is there already: of a claim whose answer was lost, or of an older boot.
TEST_F(StandbyTest, WhatIsOwnedAlreadyGetsANewEpoch) {
  given_up(1);
  const auto first = owner.prepare("vnfs1");
  const auto second = owner.prepare("vnfs1");
  const auto mine = claim(second->epoch);
  ASSERT_TRUE(mine) << mine.error().message;
  ASSERT_EQ(mine->epoch, second->epoch);
  const auto again = claim(second->epoch);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GT(again->epoch, second->epoch);
}

TEST_F(OwnershipTest, ClaimOfAStoppedVnfsIsRefused) {
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_EQ(code_of(claim(std::nullopt)), ErrorCode::kBusy);
}

TEST_F(OwnershipTest, LostReplyOfAClaimIsFoundByItsEpoch) {
  faults->push(Kind::kReplyLost, is_claim);
  const auto plan = claim(std::nullopt);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->owner_mod_revision, builder.view().owners.at("vnfs1").mod_revision);
}

TEST_F(OwnershipTest, LostRequestOfAClaimIsAnError) {
  faults->push(Kind::kRequestLost, is_claim);
  EXPECT_EQ(code_of(claim(std::nullopt)), ErrorCode::kUnknownOutcome);
  EXPECT_FALSE(builder.view().owners.contains("vnfs1"));
}

TEST_F(OwnershipTest, NobodysVnfsNeedsNoFence) { EXPECT_TRUE(owner.fence("vnfs1")); }

// The volume's LUNs are not visible here: nothing can be proved, so nothing is ended.
TEST_F(OwnershipTest, FenceNeedsEveryLun) {
  ASSERT_TRUE(claim(std::nullopt));
  const Status fenced = owner.fence("vnfs1");
  EXPECT_EQ(code_of(fenced), ErrorCode::kNotFound);
  EXPECT_NE(fenced.error().message.find("lun LUN0"), std::string::npos);
}

class ToldExportsTest : public OwnershipTest {
 protected:
  void SetUp() override {
    OwnershipTest::SetUp();
    plan = *claim(std::nullopt);
  }
  void set_access(const char* word) {
    builder.apply([&](const ClusterView& v) {
      return plan_export_set(v,
                             {"u04", std::nullopt, word, std::nullopt, std::nullopt, std::nullopt});
    });
    plan.exports_digest = owner.plan_of("vnfs1", {})->exports_digest;
  }
  bool pending() { return exports_pending(builder.view(), "vnfs1"); }
  void tell(const Status& taken) {
    const auto telling = owner.tells_exports(plan);
    ASSERT_TRUE(telling && *telling);
    EXPECT_EQ(owner.exports_told(plan, **telling, taken).has_value(), taken.has_value());
  }
  instance::InstancePlan plan;
};

TEST_F(ToldExportsTest, IsToldOnce) {
  EXPECT_TRUE(pending());
  tell({});
  EXPECT_FALSE(pending());
  const auto again = owner.tells_exports(plan);
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
}

// Its agent was cut off, or died, after the instance had followed: then the edit was taken back.
TEST_F(ToldExportsTest, WhatWasToldWithoutAWordOfItIsInDoubtAlsoWhenItWasTakenBack) {
  tell({});
  set_access("ro");
  ASSERT_TRUE(owner.tells_exports(plan));
  set_access("rw");
  EXPECT_TRUE(pending());
  tell({});
  EXPECT_FALSE(pending());
}

TEST_F(ToldExportsTest, ALateWordDoesNotHideWhatWasToldAfterIt) {
  set_access("ro");
  const auto early = owner.tells_exports(plan);
  const auto former = plan;
  set_access("rw");
  const auto late = owner.tells_exports(plan);
  ASSERT_TRUE(early && *early && late && *late);
  EXPECT_EQ(code_of(owner.exports_told(former, **early, {})), ErrorCode::kConflict);
  EXPECT_TRUE(owner.exports_told(plan, **late, {}));
  EXPECT_FALSE(pending());
}

TEST_F(ToldExportsTest, OnlyTheInstanceRefuses) {
  tell(fail(ErrorCode::kUnavailable, "control: no answer after 8000 ms"));
  EXPECT_TRUE(pending());
  EXPECT_EQ(builder.view().served.at("vnfs1").record.refused(), "");
  tell(fail(ErrorCode::kInvalidArgument, "no such directory"));
  EXPECT_FALSE(pending());
  EXPECT_EQ(builder.view().served.at("vnfs1").record.why(), "no such directory");
}

// Of a filesystem that no export of the VNFS uses: what is ended is proved, not what is exported.
TEST_F(OwnershipTest, FenceNeedsEveryLunOfWhatIsMounted) {
  ASSERT_TRUE(claim(std::nullopt));
  builder.mounted_beside();
  const Status fenced = owner.fence("vnfs1");
  EXPECT_EQ(code_of(fenced), ErrorCode::kNotFound);
  EXPECT_NE(fenced.error().message.find("lun LUN2"), std::string::npos) << fenced.error().message;
}

TEST_F(OwnershipTest, ReleaseDeletesTheOwnRecord) {
  ASSERT_TRUE(claim(std::nullopt));
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_TRUE(owner.release("vnfs1", {}));
  EXPECT_FALSE(builder.view().owners.contains("vnfs1"));
  EXPECT_TRUE(owner.release("vnfs1", {}));
}

TEST_F(OwnershipTest, WhatIsServedIsInTheHistory) {
  const auto plan = claim(std::nullopt);
  instance::Arrival arrival;
  arrival.epoch = plan->epoch;
  add_step(arrival.steps, step::kServing, 2'000'000);
  ASSERT_TRUE(owner.served("vnfs1", arrival));
  const auto earlier = owner.earlier("vnfs1");
  ASSERT_TRUE(earlier);
  ASSERT_EQ(earlier->size(), 1u);
  EXPECT_EQ(earlier->front().first, "c1n3");
  EXPECT_EQ(events(), std::vector<std::string>{"start"});
}

TEST_F(OwnershipTest, VipsThatOthersHaveAreAnEventAndMakeItLookAgain) {
  owner.vips_taken("vnfs1", "10.0.0.101: 52:54:00:01:02:03");
  EXPECT_EQ(reader.looks, 1);
  write_told();
  EXPECT_EQ(events(), std::vector<std::string>{"vip-taken"});
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
