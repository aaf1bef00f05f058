// Agent's claim, fence and release over an in-memory store, without LUNs or instances.
#include <thread>

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/plans/admission.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/records/history.h"
#include "vnfsd/records/limits.h"

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

class OwnershipTest : public ::testing::Test {
 protected:
  // A claim fails when the agent itself changes a record beside it (it ends orders that are none
  // any more, and notes what it sees of its LUNs); a supervisor tries again, too.
  Result<instance::InstancePlan> claim(std::optional<Epoch> epoch) {
    auto claimed = agent->claim("vnfs1", epoch);
    for (int i = 0; i < 5 && !claimed && claimed.error().code == ErrorCode::kConflict; ++i)
      claimed = agent->claim("vnfs1", epoch);
    return claimed;
  }

  // vnfs1's primary is another head, so that the agent starts no supervisor: the tests are the
  // supervisor.
  void SetUp() override {
    builder.head("c1n2", "10.99.0.2").head("c1n3", "10.99.0.3");
    builder.basics();
    builder.apply([](const ClusterView& v) {
      VnfsRequest r = ViewBuilder::vnfs();
      r.heads = {"c1n2", "c1n1", "c1n3"};
      return plan_vnfs_create(v, r);
    });
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = "c1n3";
    config.head_address = "10.99.0.3";
    config.daemon.run_dir = ::testing::TempDir() + "symnas-ownership";
    agent = std::make_unique<Agent>(builder.store, env::system_clock(), config, "boot");
    ASSERT_TRUE(agent->view());  // the head is registered: no more transactions of the agent's own
  }
  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  ViewBuilder builder{{.server = nullptr, .scheduler = nullptr, .faults = faults}};
  Config config;
  std::unique_ptr<Agent> agent;
};

TEST_F(OwnershipTest, RegistersItsHead) {
  const ClusterView view = builder.view();
  EXPECT_EQ(view.heads.at("c1n3").record.incarnation(), "boot");
  EXPECT_EQ(view.heads.at("c1n3").record.address(), "10.99.0.3");
}

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
  bool compared = false;  // its agent may not have seen the removal
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

// It was removed; `admission`: of the machine that is invited since.
class RemovedHeadTest : public OwnershipTest {
 protected:
  void SetUp() override {
    OwnershipTest::SetUp();
    builder.apply([](const ClusterView&) {
      records::RemovedHeadRecord removed;
      removed.set_name("c1n3");
      Change change{"removed", {}};
      change.txn.success.push_back(kv::erase(kv::keys::kHeads + "c1n3"));
      change.txn.success.push_back(
          kv::put(kv::keys::kRemoved + "c1n3", removed.SerializeAsString()));
      return Result<Change>(change);
    });
    for (int i = 0; i < 500 && agent->view(); ++i)
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
  const auto answer = agent->view();
  EXPECT_EQ(code_of(answer), ErrorCode::kForeign);
  EXPECT_NE(answer.error().message.find("was removed from the cluster"), std::string::npos);
  const Planner any = [](const ClusterView&) { return Result<Change>(Change{"any", {}}); };
  EXPECT_EQ(code_of(agent->change(any, Mode::kCommit)), ErrorCode::kForeign);
  EXPECT_FALSE(builder.view().heads.contains("c1n3"));
}

TEST_F(RemovedHeadTest, TheInvitedMachineTakesTheName) {
  invite("new");
  EXPECT_TRUE(builder.view().removed.contains("c1n3"));  // until it is there
  const auto other = start("new", "its boot");
  ASSERT_TRUE(other->view());
  EXPECT_FALSE(builder.view().removed.contains("c1n3"));
  EXPECT_EQ(builder.view().heads.at("c1n3").record.incarnation(), "its boot");
}

TEST_F(RemovedHeadTest, TheOldMachineNeverActsForTheNameAgain) {
  invite("new");
  const auto other = start("new", "its boot");
  ASSERT_TRUE(other->view());
  EXPECT_EQ(code_of(agent->view()), ErrorCode::kForeign);
  EXPECT_EQ(code_of(claim(std::nullopt)), ErrorCode::kForeign);
  const auto rebooted = start("", "a later boot");
  EXPECT_EQ(code_of(rebooted->view()), ErrorCode::kForeign);
  EXPECT_EQ(builder.view().heads.at("c1n3").record.incarnation(), "its boot");
  // What the new one owns is not its own: nothing is proved or given up here.
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  const Revision owned = claimed_by_another();
  EXPECT_TRUE(agent->fence("vnfs1"));
  EXPECT_TRUE(agent->release("vnfs1", {}));
  EXPECT_EQ(builder.view().owners.at("vnfs1").mod_revision, owned);
}

TEST_F(RemovedHeadTest, ABootThatWasFencedComesInUnderNoName) {
  builder.put(kv::keys::kFencedBoots + "its boot", records::FencedBootRecord().SerializeAsString());
  invite("new");
  const auto fenced = start("new", "its boot")->view();
  EXPECT_EQ(code_of(fenced), ErrorCode::kForeign);
  EXPECT_NE(fenced.error().message.find("reboot it"), std::string::npos);
  config.head_name = "c1n9";
  EXPECT_EQ(code_of(start("", "its boot")->view()), ErrorCode::kForeign);
  EXPECT_FALSE(builder.view().heads.contains("c1n9"));
  EXPECT_TRUE(start("", "the next boot")->view());
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
  EXPECT_TRUE(agent->fence("vnfs1"));        // nothing of it is here any more
  EXPECT_TRUE(agent->release("vnfs1", {}));  // not ours: left alone
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
    // An old one for this head is not answered by its agent, one for another is taken back.
    if (to != "c1n3") move.set_ordered_ns(env::system_clock().wall_ns());
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
  EXPECT_TRUE(agent->served("vnfs1", {}));
  EXPECT_TRUE(builder.view().moves.empty());
  EXPECT_TRUE(agent->served("vnfs1", {}));
}

TEST_F(OrderTest, ReleaseTellsTheNextHead) {
  ASSERT_TRUE(claim(std::nullopt));
  order("c1n2", "boot of c1n2");
  instance::Farewell farewell;
  farewell.departure.set_epoch(1);
  farewell.departure.set_kept(3);
  farewell.connections = {"10.0.0.101:2049 10.0.0.7:900"};
  farewell.unheard = {"10.0.0.101:2049 10.0.0.7:899"};
  ASSERT_TRUE(agent->release("vnfs1", farewell));
  const ClusterView view = builder.view();
  EXPECT_FALSE(view.owners.contains("vnfs1"));
  EXPECT_EQ(view.moves.at("vnfs1").record.departure().kept(), 3u);
  EXPECT_EQ(view.connections.at("vnfs1").record.tcp(0), farewell.connections[0]);
  EXPECT_EQ(view.connections.at("vnfs1").record.unheard(0), farewell.unheard[0]);
}

// c1n2 has given it up to this head, and had that epoch. (To an older boot of it: else the agent's
// own supervisor would claim it.)
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
  const auto standby = agent->prepare("vnfs1");
  ASSERT_TRUE(standby) << standby.error().message;
  EXPECT_TRUE(standby->standby);
  EXPECT_TRUE(builder.view().owners.empty());
  EXPECT_NE(agent->prepare("vnfs1")->epoch, standby->epoch);
}

TEST_F(StandbyTest, ClaimsWithItsOwnEpoch) {
  const auto source = agent->prepare("vnfs1");
  given_up(source->epoch.value());
  const auto next = agent->prepare("vnfs1");
  const auto plan = claim(next->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->epoch, next->epoch);
  EXPECT_FALSE(plan->standby);
  EXPECT_EQ(builder.view().owners.at("vnfs1").record.epoch(), next->epoch.value());
}

// The source crashed and was restarted in place after the standby had been prepared.
TEST_F(StandbyTest, AnEpochThatCameTooEarlyIsNotUsed) {
  const auto standby = agent->prepare("vnfs1");
  const auto later = agent->prepare("vnfs1");
  given_up(later->epoch.value());
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, later->epoch);
}

TEST_F(StandbyTest, WithoutItsSourcesFarewellAnEpochIsNotUsed) {
  const auto standby = agent->prepare("vnfs1");
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
  const auto owner = agent->prepare("vnfs1");
  const auto standby = agent->prepare("vnfs1");
  left(owner->epoch);
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->epoch, standby->epoch);
  EXPECT_TRUE(builder.view().left.empty()) << "an older standby must not use it";
}

TEST_F(FallingTest, AnEpochFromBeforeTheOwnersIsNotUsed) {
  const auto standby = agent->prepare("vnfs1");
  left(agent->prepare("vnfs1")->epoch);
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, standby->epoch);
}

// It was fenced on its way from an older one, whose farewell stands there yet.
TEST_F(FallingTest, TheLaterOfTwoOwnersCounts) {
  const auto first = agent->prepare("vnfs1");
  const auto standby = agent->prepare("vnfs1");
  given_up(first->epoch.value());
  left(agent->prepare("vnfs1")->epoch);
  const auto plan = claim(standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, standby->epoch);
}

// Its owner record is there already: of a claim whose answer was lost, or of an older boot.
TEST_F(StandbyTest, WhatIsOwnedAlreadyGetsANewEpoch) {
  given_up(1);
  const auto first = agent->prepare("vnfs1");
  const auto second = agent->prepare("vnfs1");
  const auto mine = claim(second->epoch);
  ASSERT_TRUE(mine) << mine.error().message;
  ASSERT_EQ(mine->epoch, second->epoch);
  const auto again = claim(second->epoch);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GT(again->epoch, second->epoch);
}

TEST_F(OwnershipTest, HistoryTellsHowItWent) {
  const auto plan = claim(std::nullopt);
  instance::Arrival arrival;
  arrival.epoch = plan->epoch;
  add_step(arrival.steps, step::kClaimed, 1'000'000);
  add_step(arrival.steps, step::kServing, 2'000'000);
  ASSERT_TRUE(agent->served("vnfs1", arrival));
  instance::Farewell farewell;
  farewell.departure.set_epoch(plan->epoch.value());
  add_step(*farewell.departure.mutable_steps(), step::kRetiring, 9'000'000);
  ASSERT_TRUE(agent->release("vnfs1", farewell));
  const auto next = claim(std::nullopt);
  arrival.epoch = next->epoch;
  arrival.last.set_epoch(plan->epoch.value());
  arrival.last.set_cause(records::DEPARTURE_ENDED);
  add_step(*arrival.last.mutable_steps(), step::kEnded, 9'000'000);
  arrival.steps.Clear();
  add_step(arrival.steps, step::kServing, 19'000'000);
  ASSERT_TRUE(agent->served("vnfs1", arrival));
  const auto document = agent->vnfs_history("vnfs1");
  ASSERT_TRUE(document) << document.error().message;
  const auto& history = (*document)["history"];
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0]["cause"], "start");
  EXPECT_EQ(history[1]["cause"], "restart");
  EXPECT_EQ(history[1]["blackout_ms"], 10);
  EXPECT_EQ(history[1]["steps"].size(), 2u);
  EXPECT_EQ(code_of(agent->vnfs_history("nobody")), ErrorCode::kNotFound);
}

TEST_F(OwnershipTest, HistoryForgetsWhatIsOld) {
  for (std::size_t i = 0; i < kHistoryMax + 3; ++i) {
    instance::Arrival arrival;
    arrival.epoch = claim(std::nullopt)->epoch;
    add_step(arrival.steps, step::kServing, 1);
    ASSERT_TRUE(agent->served("vnfs1", arrival));
  }
  EXPECT_EQ((*agent->vnfs_history("vnfs1"))["history"].size(), kHistoryMax);
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

TEST_F(OwnershipTest, NobodysVnfsNeedsNoFence) { EXPECT_TRUE(agent->fence("vnfs1")); }

// The volume's LUNs are not visible here: nothing can be proved, so nothing is ended.
TEST_F(OwnershipTest, FenceNeedsEveryLun) {
  ASSERT_TRUE(claim(std::nullopt));
  const Status fenced = agent->fence("vnfs1");
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
      return plan_export_set(v, {"u04", std::nullopt, word, std::nullopt, std::nullopt});
    });
    plan.exports_digest = agent->plan_of("vnfs1", {})->exports_digest;
  }
  bool pending() { return exports_pending(builder.view(), "vnfs1"); }
  void tell(const Status& taken) {
    const auto telling = agent->tells_exports(plan);
    ASSERT_TRUE(telling && *telling);
    EXPECT_EQ(agent->exports_told(plan, **telling, taken).has_value(), taken.has_value());
  }
  instance::InstancePlan plan;
};

TEST_F(ToldExportsTest, IsToldOnce) {
  EXPECT_TRUE(pending());
  tell({});
  EXPECT_FALSE(pending());
  const auto again = agent->tells_exports(plan);
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
}

// Its agent was cut off, or died, after the instance had followed: then the edit was taken back.
TEST_F(ToldExportsTest, WhatWasToldWithoutAWordOfItIsInDoubtAlsoWhenItWasTakenBack) {
  tell({});
  set_access("ro");
  ASSERT_TRUE(agent->tells_exports(plan));
  set_access("rw");
  EXPECT_TRUE(pending());
  tell({});
  EXPECT_FALSE(pending());
}

TEST_F(ToldExportsTest, ALateWordDoesNotHideWhatWasToldAfterIt) {
  set_access("ro");
  const auto early = agent->tells_exports(plan);
  const auto former = plan;
  set_access("rw");
  const auto late = agent->tells_exports(plan);
  ASSERT_TRUE(early && *early && late && *late);
  EXPECT_EQ(code_of(agent->exports_told(former, **early, {})), ErrorCode::kConflict);
  EXPECT_TRUE(agent->exports_told(plan, **late, {}));
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
  const Status fenced = agent->fence("vnfs1");
  EXPECT_EQ(code_of(fenced), ErrorCode::kNotFound);
  EXPECT_NE(fenced.error().message.find("lun LUN2"), std::string::npos) << fenced.error().message;
}

// Stopped: the agent supervises what its head owns, and would claim it again.
TEST_F(OwnershipTest, ReleaseDeletesTheOwnRecord) {
  ASSERT_TRUE(claim(std::nullopt));
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_TRUE(agent->release("vnfs1", {}));
  EXPECT_FALSE(builder.view().owners.contains("vnfs1"));
  EXPECT_TRUE(agent->release("vnfs1", {}));
}

TEST_F(OwnershipTest, LunSetVersionFollowsLunsAndPaths) {
  const std::string before = lun_set_version(builder.view());
  builder.lun("LUN9");
  const std::string with_lun = lun_set_version(builder.view());
  EXPECT_NE(before, with_lun);
  records::HeadRecord head = builder.view().heads.at("c1n1").record;
  head.add_lun_paths("/elsewhere/*");
  builder.put(kv::keys::kHeads + "c1n1", head.SerializeAsString());
  EXPECT_NE(lun_set_version(builder.view()), with_lun);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
