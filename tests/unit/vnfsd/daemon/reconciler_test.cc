// One head and the records, turn by turn, without threads that follow them.
#include "vnfsd/daemon/reconciler.h"

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/follow/limits.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::daemon {
namespace {

class ReconcilerTest : public HeadWorld {
 protected:
  void TearDown() override { instances.clear(); }
  records::HeadRecord record() { return builder.view().heads.at("c1n3").record; }
  void fence(const std::string& incarnation, records::FenceState state) {
    records::FenceRecord fence;
    fence.set_head("c1n3");
    fence.set_incarnation(incarnation);
    fence.set_by("c1n1");
    fence.set_state(state);
    builder.put(kv::keys::kFences + std::string("c1n3"), fence.SerializeAsString());
  }
  void follow() {
    const Status done = reconciler.follow(builder.view());
    ASSERT_TRUE(done) << done.error().message;
  }

  std::stop_source end;
  HistoryWriter history{head, event_writer};
  LunKeeper luns{head, {}, [] {}};
  Ownership owner{{head, reader, event_writer, history, luns.open_luns(), luns.registrations()}};
  InstanceSet instances{head, owner};
  FenceMeans means{head, nullptr, {}, end.get_token()};
  FakeFenceOrders fences;
  HeadWatcher heads{{head, reader, event_writer, fences, nullptr, {}}, end.get_token()};
  Reconciler reconciler{{head, event_writer, luns, instances, owner, means, heads}};
};

TEST_F(ReconcilerTest, RegistersThisBoot) {
  ASSERT_TRUE(reconciler.register_head());
  EXPECT_EQ(record().incarnation(), "boot");
  EXPECT_EQ(record().address(), "10.99.0.3");
  EXPECT_FALSE(record().luns_known());
  EXPECT_EQ(events(), std::vector<std::string>{"head-started"});
}

TEST_F(ReconcilerTest, AnotherClustersEtcdIsLeftAlone) {
  records::ClusterRecord cluster = builder.view().cluster.record;
  cluster.set_uuid(std::string(16, 'x'));
  builder.put(kv::keys::kCluster, cluster.SerializeAsString());
  EXPECT_EQ(code_of(reconciler.register_head()), ErrorCode::kForeign);
  EXPECT_FALSE(builder.view().heads.contains("c1n3"));
}

TEST_F(ReconcilerTest, ABootThatWasFencedDoesNotRegister) {
  fence("boot", records::FENCE_DONE);
  EXPECT_EQ(code_of(reconciler.register_head()), ErrorCode::kPermission);
  EXPECT_FALSE(builder.view().heads.contains("c1n3"));
}

TEST_F(ReconcilerTest, TheFenceOfAnEarlierBootIsOver) {
  fence("an earlier boot", records::FENCE_DONE);
  ASSERT_TRUE(reconciler.register_head());
  EXPECT_TRUE(builder.view().fences.empty());
}

TEST_F(ReconcilerTest, SaysWhichLunsItHas) {
  ASSERT_TRUE(reconciler.register_head());
  follow();
  EXPECT_FALSE(builder.view().cluster.record.probe_key().empty());
  follow();
  EXPECT_TRUE(record().luns_known());
  EXPECT_EQ(record().luns_size(), 0);
  const Revision said = builder.view().heads.at("c1n3").mod_revision;
  follow();
  EXPECT_EQ(builder.view().heads.at("c1n3").mod_revision, said) << "nothing has changed";
}

TEST_F(ReconcilerTest, LooksAgainAfterAWhileWhenNothingIsUnderWay) {
  EXPECT_EQ(reconciler.pause_ms(), kReconcileMs);
}

TEST_F(ReconcilerTest, ARemovedHeadSaysSo) {
  ASSERT_TRUE(reconciler.register_head());
  builder.put(kv::keys::kRemoved + std::string("c1n3"),
              records::RemovedHeadRecord().SerializeAsString());
  EXPECT_EQ(code_of(reconciler.follow(builder.view())), ErrorCode::kForeign);
}

TEST_F(ReconcilerTest, WhatWasToldWhileItWasAwayIsRemembered) {
  event_writer.tell(event::kVipTaken, "vnfs v1: not taken");
  told = 0;
  reconciler.followed();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
