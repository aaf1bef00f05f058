#include "vnfsd/daemon/upkeep/members.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::daemon {
namespace {

using Role = kv::StoreMember::Role;
using Texts = std::vector<std::string>;

kv::StoreMember member(int number, Role role = Role::kVoter) {
  const std::string address = "10.99.0." + std::to_string(number);
  return {static_cast<std::uint64_t>(number), "c1n" + std::to_string(number),
          etcd_peer_url(address), etcd_client_url(address), role};
}

kv::StoreMember never_started(int number) {
  kv::StoreMember added = member(number, Role::kLearner);
  added.name.clear();
  added.client_url.clear();
  return added;
}

TEST(Endpoints, OwnMemberFirst) {
  EXPECT_EQ(endpoints_for({member(3), member(1), member(2)}, "10.99.0.2", "c1n2"),
            (Texts{"https://10.99.0.2:2379", "https://10.99.0.3:2379", "https://10.99.0.1:2379"}));
}

TEST(Endpoints, HeadsWithoutAMemberBeginBehindTheirName) {
  EXPECT_EQ(endpoints_for({member(1), member(3)}, "10.99.0.2", "c1n2"),
            (Texts{"https://10.99.0.3:2379", "https://10.99.0.1:2379"}));
  EXPECT_EQ(endpoints_for({member(1), member(3)}, "10.99.0.4", "c1n4"),
            (Texts{"https://10.99.0.1:2379", "https://10.99.0.3:2379"}));
}

TEST(Endpoints, LearnersAreNotAsked) {
  EXPECT_EQ(
      endpoints_for({member(1), member(2, Role::kLearner), never_started(3)}, "10.99.0.2", "c1n2"),
      (Texts{"https://10.99.0.1:2379"}));
}

TEST(InitialCluster, NamesTheNewMember) {
  const auto cluster =
      initial_cluster_for({member(1), never_started(2)}, "c1n2", "https://10.99.0.2:2380");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(*cluster, (Texts{"c1n1=https://10.99.0.1:2380", "c1n2=https://10.99.0.2:2380"}));
}

TEST(InitialCluster, AnotherUnstartedMemberIsInTheWay) {
  const auto cluster =
      initial_cluster_for({member(1), never_started(2)}, "c1n3", "https://10.99.0.3:2380");
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().code, ErrorCode::kBusy);
  EXPECT_NE(cluster.error().message.find("https://10.99.0.2:2380"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
