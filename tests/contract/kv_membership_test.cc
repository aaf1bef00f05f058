// EtcdMembership on a real etcd: its answers, and what each refusal means.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/kv/etcd/etcd_membership.h"
#include "tests/contract/etcd_cluster.h"

namespace symnas::kv {
namespace {

using testing::EtcdCluster;

class MembershipTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = EtcdCluster::missing(); !missing.empty())
      GTEST_SKIP() << missing;
    cluster = std::make_unique<EtcdCluster>(testing::EtcdClusterOptions{});
    store = *EtcdStore::open(cluster->client_options());
    ASSERT_TRUE(EtcdCluster::wait_until_serving(*store, 20'000));
    membership = *EtcdMembership::open(cluster->client_options());
  }
  std::unique_ptr<EtcdCluster> cluster;
  std::unique_ptr<EtcdStore> store;
  std::unique_ptr<EtcdMembership> membership;
};

TEST_F(MembershipTest, ListsWhoIsThere) {
  const auto members = membership->members();
  ASSERT_TRUE(members) << members.error().message;
  ASSERT_EQ(members->size(), 1u);
  EXPECT_EQ(members->front().role, StoreMember::Role::kVoter);
  EXPECT_NE(members->front().client_url, "");
}

TEST_F(MembershipTest, ALearnerThatNeverStartedCountsForNothing) {
  const auto added = membership->add_learner("http://127.0.0.1:1");
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_EQ(added->size(), 2u);
  const auto learner = std::find_if(added->begin(), added->end(), [](const StoreMember& member) {
    return member.role == StoreMember::Role::kLearner;
  });
  ASSERT_NE(learner, added->end());
  EXPECT_EQ(learner->name, "");
  EXPECT_EQ(learner->peer_url, "http://127.0.0.1:1");
  EXPECT_TRUE(EtcdCluster::wait_until_serving(*store, 5'000));

  EXPECT_EQ(membership->promote(learner->id).error().code, ErrorCode::kBusy);
  EXPECT_EQ(membership->add_learner("http://127.0.0.1:2").error().code, ErrorCode::kBusy);
  EXPECT_TRUE(membership->remove(learner->id));
  EXPECT_EQ(membership->remove(learner->id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(membership->members()->size(), 1u);
}

TEST_F(MembershipTest, NobodyAnswers) {
  cluster->kill(0);
  EXPECT_EQ(membership->members().error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace symnas::kv
