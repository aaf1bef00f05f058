// Why a head that nobody hears is not fenced; the event and the status say it.
#include "vnfsd/daemon/detection/head_watcher.h"

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "tests/unit/vnfsd/daemon/scripted_sights.h"
#include "vnfsd/daemon/detection/limits.h"
#include "vnfsd/plans/deciders.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kSilentForMs = 4 * ha::kSilentMs;

// What corosync says to c1n3.
struct ScriptedCorosync final : ha::CorosyncSights {
  ha::CorosyncSight sight(const ha::CorosyncWitness::Heads& heads) const override {
    asked = heads;
    return said;
  }
  ha::CorosyncSight said;
  mutable ha::CorosyncWitness::Heads asked;
};

// c1n2 owns vnfs1, and is not heard; c1n1 is.
class HeadWatcherTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.three_heads().basics().vnfs1().owner("vnfs1", "c1n2");
    sights.hear("c1n1", 0);
    sights.hear("c1n2", kSilentForMs);
  }
  void look() {
    watcher.follow(builder.view());
    pass_ms(kSilentLookMs);
    watcher.look();
    write_told();
  }
  // Why c1n2 is not fenced.
  std::string why() {
    look();
    EXPECT_TRUE(fences.started.empty());
    const auto silent = watcher.silent();
    const auto found = silent.find("c1n2");
    return found == silent.end() ? "it is heard" : found->second;
  }

  std::int64_t now_ms() const { return head.clock.mono_ns() / 1'000'000; }
  // Corosync's majority has lost c1n2 so long ago.
  void lose(std::int64_t ms_ago) {
    corosync.said.quorate = true;
    corosync.said.heads["c1n2"] = {ha::CorosyncState::kLost, now_ms() + kSilentLookMs - ms_ago};
  }

  ScriptedSights sights;
  ScriptedCorosync corosync;
  FakeFenceOrders fences;
  std::vector<std::string> left;
  std::stop_source end;
  HeadWatcher watcher{{head, reader, event_writer, fences, &sights,
                       [this](const std::string& address) { left.push_back(address); }, &corosync},
                      end.get_token()};
};

TEST_F(HeadWatcherTest, WithoutFencingNothingIsDone) {
  fences.no_failover = "no fencing is configured on c1n3";
  EXPECT_EQ(why(), "no fencing is configured on c1n3");
  EXPECT_NE(event_text(event::kHeadSilent).find("no fencing is configured on c1n3"),
            std::string::npos);
}

TEST_F(HeadWatcherTest, WhoIsNotRegisteredFencesNobody) {
  fences.able = fail(ErrorCode::kUnavailable, "not registered on LUN0");
  EXPECT_EQ(why(), "not registered on LUN0");
}

TEST_F(HeadWatcherTest, WhoHearsNoMajorityMayBeTheOneThatIsCutOff) {
  sights.hear("c1n1", kSilentForMs);
  EXPECT_NE(why().find("hears 0 of 2 others only"), std::string::npos) << why();
}

// The machine of a unit test is in no network of the lab's VIPs.
TEST_F(HeadWatcherTest, WhoCannotAskTheVipsDoesNotFence) {
  EXPECT_NE(why().find("no address in the networks of its VIPs"), std::string::npos) << why();
}

TEST_F(HeadWatcherTest, CorosyncAnswersForVipsThatCannotBeAsked) {
  lose(kSilentForMs - 1);
  look();
  ASSERT_EQ(fences.started.size(), 1u);
  EXPECT_EQ(fences.started[0].first, "c1n2");
}

TEST_F(HeadWatcherTest, WhatCorosyncLostBeforeTheSilenceSaysNothing) {
  lose(kSilentForMs + 1);
  EXPECT_NE(why().find("no address in the networks of its VIPs"), std::string::npos) << why();
}

TEST_F(HeadWatcherTest, AMinorityOfCorosyncSaysNothing) {
  lose(1);
  corosync.said.quorate = false;
  EXPECT_NE(why().find("no address in the networks of its VIPs"), std::string::npos) << why();
}

TEST_F(HeadWatcherTest, CorosyncDoesNotStandInForAMajority) {
  sights.hear("c1n1", kSilentForMs);
  lose(1);
  EXPECT_NE(why().find("hears 0 of 2 others only"), std::string::npos) << why();
}

TEST_F(HeadWatcherTest, WhoWasNotHeardForLongEnoughIsMissedWhenCorosyncHasLostIt) {
  sights.hear("c1n2", kSilentForMs);
  sights.seen.back().silent = sights.seen.back().suspect = false;
  EXPECT_EQ(why(), "it is heard");
  lose(1);
  look();
  ASSERT_EQ(fences.started.size(), 1u);
  EXPECT_EQ(fences.started[0].first, "c1n2");
}

TEST_F(HeadWatcherTest, WhoIsHeardIsNotMissedWhateverCorosyncSays) {
  sights.hear("c1n2", ha::kSilentMs - 1);
  lose(1);
  EXPECT_EQ(why(), "it is heard");
}

TEST_F(HeadWatcherTest, CorosyncIsAskedForTheAddressesOfAllHeads) {
  look();
  watcher.corosync().sight();
  ASSERT_EQ(corosync.asked.size(), 3u);
  EXPECT_EQ(corosync.asked.at("c1n2").front(), "10.99.0.2");
}

TEST_F(HeadWatcherTest, OneThatServesNothingIsNotMissed) {
  kv::Txn txn;
  txn.success.push_back(kv::erase(kv::keys::kOwners + std::string("vnfs1")));
  txn.success.push_back(kv::erase(kv::keys::kVnfs + std::string("vnfs1")));
  ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  EXPECT_NE(why().find("it serves nothing"), std::string::npos) << why();
}

TEST_F(HeadWatcherTest, ItsNextBootIsNotMissed) {
  records::HeadRecord record = builder.view().heads.at("c1n2").record;
  record.set_incarnation("a later boot");
  builder.put(kv::keys::kHeads + std::string("c1n2"), record.SerializeAsString());
  EXPECT_EQ(why(), "it has booted since");
}

TEST_F(HeadWatcherTest, OneThatIsBeingFencedIsNotFencedAgain) {
  records::FenceRecord fence;
  fence.set_head("c1n2");
  fence.set_incarnation("boot of c1n2");
  fence.set_state(records::FENCE_RUNNING);
  builder.put(kv::keys::kFences + std::string("c1n2"), fence.SerializeAsString());
  EXPECT_EQ(why(), "it is fenced, or being fenced");
}

TEST_F(HeadWatcherTest, IsToldOnceAndWhenItIsHeardAgain) {
  fences.no_failover = "no fencing";
  look();
  look();
  EXPECT_EQ(events(), std::vector<std::string>{"head-silent"});
  sights.hear("c1n2", 0);
  look();
  look();
  EXPECT_EQ(events(), (std::vector<std::string>{"head-silent", "head-heard"}));
  EXPECT_TRUE(watcher.silent().empty());
}

TEST_F(HeadWatcherTest, OfAHeadThatWasRemovedNothingIsTold) {
  fences.no_failover = "no fencing";
  look();
  sights.seen.clear();
  look();
  EXPECT_TRUE(watcher.silent().empty());
}

TEST_F(HeadWatcherTest, WhileAnotherOneDecidesItIsOnlySaidToBeSilent) {
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_PACEMAKER); });
  EXPECT_EQ(why(), "pacemaker decides whether it is fenced");
  EXPECT_TRUE(watcher.is_left_to_decider("c1n2", "boot of c1n2"));
  fences.no_failover = "no fencing";
  EXPECT_EQ(why(),
            "pacemaker decides whether it is fenced, and this head cannot do that: no fencing");
  EXPECT_TRUE(watcher.is_left_to_decider("c1n2", "boot of c1n2"))
      << "whoever takes its VNFS is told why not";
  sights.hear("c1n2", 0);
  look();
  EXPECT_FALSE(watcher.is_left_to_decider("c1n2", "boot of c1n2"));
  sights.hear("c1n2", kSilentForMs);
  look();
  EXPECT_TRUE(watcher.is_left_to_decider("c1n2", "boot of c1n2"));
  EXPECT_FALSE(watcher.is_left_to_decider("c1n2", "its next boot"));
  sights.hear("c1n1", kSilentForMs);
  look();
  EXPECT_FALSE(watcher.is_left_to_decider("c1n2", "boot of c1n2")) << "this head may be cut off";
  sights.hear("c1n1", 0);
  look();
  EXPECT_TRUE(watcher.is_left_to_decider("c1n2", "boot of c1n2"));
  std::erase_if(sights.seen, [](const ha::PeerSight& one) { return one.head == "c1n2"; });
  look();
  EXPECT_FALSE(watcher.is_left_to_decider("c1n2", "boot of c1n2")) << "it was removed";
}

TEST_F(HeadWatcherTest, WhileAnotherOneDecidesABootThatWasNeverHeardIsMissedSooner) {
  sights.never_heard("c1n2", kUnheardDecidedMs);
  EXPECT_EQ(why(), "it is heard") << "by the builtin one it is missed later";
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_KEEPALIVED); });
  sights.never_heard("c1n2", kUnheardDecidedMs - 1);
  look();
  EXPECT_FALSE(watcher.is_left_to_decider("c1n2", "boot of c1n2"));
  sights.never_heard("c1n2", kUnheardDecidedMs);
  look();
  EXPECT_TRUE(watcher.is_left_to_decider("c1n2", "boot of c1n2"));
}

TEST_F(HeadWatcherTest, ItsMemberIsLeftOnceForEachSilence) {
  look();
  look();
  EXPECT_EQ(left, std::vector<std::string>{"10.99.0.2"});
  sights.hear("c1n2", 0);
  look();
  sights.hear("c1n2", kSilentForMs);
  look();
  EXPECT_EQ(left.size(), 2u);
}

TEST_F(HeadWatcherTest, ListensToTheBootsThatAreRegistered) {
  look();
  ASSERT_EQ(sights.peers.size(), 2u) << "itself is none";
  EXPECT_EQ(sights.peers.at("c1n2").incarnation, "boot of c1n2");
  EXPECT_EQ(watcher.networks().devices().at("nfs0"), "eth1");
}

TEST_F(HeadWatcherTest, NothingIsSeenBeforeTheHeadIsRegistered) {
  reader.ready = false;
  look();
  EXPECT_TRUE(watcher.silent().empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
