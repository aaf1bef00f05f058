#include "vnfsd/plans/fences.h"

#include <string>

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd {
namespace {

// c1n1 has c1n2 fenced, which owns `db`.
class Fences : public testing::Test {
 protected:
  Fences() {
    cluster.three_heads();
    records::OwnerRecord owner;
    owner.set_head("c1n2");
    owner.set_epoch(7);
    cluster.put(kv::keys::kOwners + "db", owner.SerializeAsString());
  }
  records::FenceRecord wanted() const {
    records::FenceRecord record;
    record.set_head(victim.head);
    record.set_incarnation(victim.incarnation);
    record.set_by(own.head);
    record.set_began_ns(1);
    record.set_state(records::FENCE_RUNNING);
    return record;
  }
  bool commit(const kv::Txn& txn) {
    return kv::txn_blocking(cluster.store, kv::Txn(txn), kTestDeadlineMs)->succeeded;
  }
  void begin() {
    const auto plan = plan_fence_begin(cluster.view(), own, wanted(), nullptr);
    ASSERT_TRUE(plan && plan->txn);
    ASSERT_TRUE(commit(*plan->txn));
  }
  void prove() {
    const auto plan = plan_fence_proof(cluster.view(), own, victim, "luns", "cut", 2);
    ASSERT_TRUE(plan && plan->txn);
    ASSERT_TRUE(commit(*plan->txn));
  }
  records::FenceRecord record() { return cluster.view().fences.at("c1n2").record; }

  ViewBuilder cluster;
  const HeadBoot own{"c1n1", "boot of c1n1", ""};
  const Victim victim{"c1n2", "boot of c1n2"};
};

TEST_F(Fences, GoThroughTheirStates) {
  begin();
  EXPECT_TRUE(check_still_fenced(cluster.view(), own, victim));
  prove();
  EXPECT_EQ(record().state(), records::FENCE_PROVEN);
  EXPECT_EQ(record().proof(), "cut");
  const auto end = plan_fence_end(cluster.view(), victim);
  ASSERT_TRUE(end && end->plan.txn);
  ASSERT_EQ(end->owned.size(), 1U);
  EXPECT_EQ(end->owned[0].second.record.epoch(), 7U);
  ASSERT_TRUE(commit(*end->plan.txn));
  EXPECT_EQ(record().state(), records::FENCE_DONE);
  EXPECT_TRUE(cluster.view().owners.empty());
  EXPECT_EQ(cluster.view().left.at("db").record.epoch(), 7U);
  EXPECT_FALSE(plan_fence_end(cluster.view(), victim)->plan.txn) << "it is done";
}

TEST_F(Fences, GoOnFromTheRecord) {
  begin();
  EXPECT_FALSE(plan_fence_begin(cluster.view(), own, wanted(), nullptr)->txn) << "its own, again";
  const HeadBoot other{"c1n3", "boot of c1n3", ""};
  records::FenceRecord theirs = wanted();
  theirs.set_by("c1n3");
  const auto taken = plan_fence_begin(cluster.view(), other, theirs, nullptr);
  ASSERT_TRUE(taken && taken->txn) << "nothing is proved: another head may do it";
  prove();
  const auto proved = plan_fence_begin(cluster.view(), other, theirs, nullptr);
  ASSERT_TRUE(proved);
  EXPECT_FALSE(proved->txn);
  EXPECT_EQ(proved->record.state(), records::FENCE_PROVEN);
}

TEST_F(Fences, AnOwnerThatMovesMeanwhileIsRead) {
  begin();
  const auto proof = plan_fence_proof(cluster.view(), own, victim, "luns", "cut", 2);
  cluster.put(kv::keys::kOwners + "db", cluster.view().owners.at("db").record.SerializeAsString());
  EXPECT_FALSE(commit(*proof->txn));
  prove();
  const auto end = plan_fence_end(cluster.view(), victim);
  cluster.put(kv::keys::kOwners + "db", cluster.view().owners.at("db").record.SerializeAsString());
  EXPECT_FALSE(commit(*end->plan.txn));
}

TEST_F(Fences, AreOfOneBoot) {
  records::FenceRecord old = wanted();
  old.set_incarnation("the boot before");
  EXPECT_EQ(plan_fence_begin(cluster.view(), own, old, nullptr).error().code, ErrorCode::kConflict);
  begin();
  const Victim before{"c1n2", "the boot before"};
  EXPECT_EQ(check_still_fenced(cluster.view(), own, before).error().code, ErrorCode::kConflict);
  EXPECT_EQ(plan_fence_proof(cluster.view(), own, before, "luns", "cut", 2).error().code,
            ErrorCode::kConflict);
  EXPECT_EQ(plan_fence_end(cluster.view(), victim).error().code, ErrorCode::kConflict)
      << "nothing is proved";
}

TEST_F(Fences, OfWhoIsFencedItselfDoNotBegin) {
  records::FenceRecord of_own = wanted();
  of_own.set_head("c1n1");
  of_own.set_incarnation("boot of c1n1");
  of_own.set_by("c1n3");
  cluster.put(fence_key("c1n1"), of_own.SerializeAsString());
  EXPECT_EQ(plan_fence_begin(cluster.view(), own, wanted(), nullptr).error().code,
            ErrorCode::kPermission);
}

TEST_F(Fences, OfASilentHeadBeginOnlyAsSeen) {
  const FenceSeen seen{Revision{}, "heartbeat", Revision{}};
  const auto plan = plan_fence_begin(cluster.view(), own, wanted(), &seen);
  ASSERT_TRUE(plan && plan->txn);
  cluster.put("heartbeat", "again");
  EXPECT_FALSE(commit(*plan->txn));
}

TEST_F(Fences, ThatFailedSayWhy) {
  begin();
  const auto plan = plan_fence_failed(cluster.view(), own, victim, "no answer");
  ASSERT_TRUE(plan && plan->txn && commit(*plan->txn));
  EXPECT_EQ(record().state(), records::FENCE_FAILED);
  EXPECT_EQ(record().error(), "no answer");
  EXPECT_FALSE(plan_fence_failed(cluster.view(), own, victim, "no answer")->txn);
  EXPECT_EQ(plan_fence_proof(cluster.view(), own, victim, "luns", "cut", 2).error().code,
            ErrorCode::kConflict);
}

}  // namespace
}  // namespace symnas::vnfsd
