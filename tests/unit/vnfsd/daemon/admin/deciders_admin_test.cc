// Whom a decider's order to take a VNFS has fenced, and what is refused before it is decided.
#include "vnfsd/daemon/admin/deciders_admin.h"

#include <stop_token>

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "tests/unit/vnfsd/daemon/scripted_sights.h"
#include "vnfsd/daemon/detection/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// c1n3 is this head; c1n2 has vnfs1, and is not heard; c1n1 is. pacemaker decides.
class DecidersAdminTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.three_heads().basics().vnfs1({"c1n2", "c1n3"}).owner("vnfs1", "c1n2");
    const ClusterView view = builder.view();
    records::HeadRecord record = view.heads.at("c1n3").record;
    for (const auto* lun : luns_of_volume(view, "v1")) record.add_luns(lun->uuid());
    record.set_luns_known(true);
    builder.put(kv::keys::kHeads + std::string("c1n3"), record.SerializeAsString());
    builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_PACEMAKER); });
    sights.hear("c1n1", 0);
    sights.hear("c1n2", 4 * ha::kSilentMs);
  }
  Result<std::string> take(Mode mode = Mode::kCommit) {
    watcher.follow(builder.view());
    pass_ms(kSilentLookMs);
    watcher.look();
    return admin.take({records::DECIDER_PACEMAKER, "vnfs1", "c1n3"}, mode);
  }
  // Of a decider on another head.
  void decided(const std::string& by_head) {
    records::VnfsRecord record = builder.view().vnfses.at("vnfs1").record;
    record.set_decided_head(by_head);
    record.set_decided_incarnation("boot of " + by_head);
    builder.put(kv::keys::kVnfs + std::string("vnfs1"), record.SerializeAsString());
  }
  std::string decided_head() { return builder.view().vnfses.at("vnfs1").record.decided_head(); }

  ScriptedSights sights;
  FakeFenceOrders fences;
  FakeInstances instances;
  std::stop_source end;
  HeadWatcher watcher{{head, reader, event_writer, fences, &sights, {}}, end.get_token()};
  DecidersAdmin admin{{head, reader, event_writer, fences, watcher, instances}};
};

TEST_F(DecidersAdminTest, AnOwnerThatIsHeardIsNotFenced) {
  sights.hear("c1n2", 0);
  ASSERT_TRUE(take());
  EXPECT_TRUE(fences.started.empty());
  EXPECT_EQ(builder.view().moves.at("vnfs1").record.to(), "c1n3");
}

TEST_F(DecidersAdminTest, AnOwnerThatIsNotHeardIsFenced) {
  ASSERT_TRUE(take(Mode::kDryRun));
  EXPECT_TRUE(fences.started.empty());
  ASSERT_TRUE(take());
  ASSERT_EQ(fences.started.size(), 1u);
  EXPECT_EQ(fences.started[0].first, "c1n2");
  EXPECT_EQ(fences.started[0].second.incarnation, "boot of c1n2");
  EXPECT_TRUE(fences.started[0].second.unheard);
  EXPECT_EQ(decided_head(), "c1n3");
}

TEST_F(DecidersAdminTest, OfAnOwnerThatHasBootedThePresentBootIsFenced) {
  records::HeadRecord record = builder.view().heads.at("c1n2").record;
  record.set_incarnation("next boot of c1n2");
  builder.put(kv::keys::kHeads + std::string("c1n2"), record.SerializeAsString());
  sights.never_heard("c1n2", kUnheardDecidedMs);
  sights.seen.back().incarnation = "next boot of c1n2";
  ASSERT_TRUE(take());
  ASSERT_EQ(fences.started.size(), 1u);
  EXPECT_EQ(fences.started[0].second.incarnation, "next boot of c1n2");
}

TEST_F(DecidersAdminTest, WhoeverWasToldBeforeHasSomeSecondsForIt) {
  sights.hear("c1n2", 0);
  decided("c1n1");
  const auto refused = take();
  EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("c1n1 was told to take it, and gets 5 s more"),
            std::string::npos)
      << refused.error().message;
  int carried_out = 0;
  for (int i = 0; i < 40; ++i) {  // 20 s, in which both insist
    pass_ms(500 - kSilentLookMs);
    if (!take()) continue;
    ++carried_out;
    decided("c1n1");
  }
  EXPECT_GE(carried_out, 2);
  EXPECT_LE(carried_out, 4);
}

TEST_F(DecidersAdminTest, WhoeverWasToldAndIsFencedIsNotWaitedFor) {
  decided("c1n1");
  records::FenceRecord fence;
  fence.set_head("c1n1");
  fence.set_incarnation("boot of c1n1");
  builder.put(kv::keys::kFences + std::string("c1n1"), fence.SerializeAsString());
  sights.hear("c1n2", 0);
  EXPECT_TRUE(take());
  EXPECT_EQ(decided_head(), "c1n3");
}

TEST_F(DecidersAdminTest, WhatThisHeadCannotFenceIsNotDecided) {
  fences.no_failover = "`automatic` is off on c1n3";
  for (const Mode mode : {Mode::kDryRun, Mode::kCommit}) {
    const auto refused = take(mode);
    EXPECT_EQ(code_of(refused), ErrorCode::kUnavailable);
    EXPECT_NE(refused.error().message.find("c1n2 has it and is not heard: `automatic` is off"),
              std::string::npos)
        << refused.error().message;
  }
  EXPECT_EQ(decided_head(), "c1n2");
  EXPECT_TRUE(builder.view().moves.empty());
  fences.no_failover = "";
  fences.able = fail(ErrorCode::kUnavailable, "not registered on LUN0");
  EXPECT_EQ(code_of(take()), ErrorCode::kUnavailable);
  EXPECT_EQ(decided_head(), "c1n2");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
