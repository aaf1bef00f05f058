#include "vnfsd/daemon/admin/members_admin.h"

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/daemon/fake_membership.h"
#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class MembersAdminTest : public HeadWorld {
 protected:
  FakeMembership membership;
  MembersAdmin admin{head, &membership};
};

TEST_F(MembersAdminTest, WithoutMembershipNothingIsManaged) {
  MembersAdmin none(head, nullptr);
  EXPECT_EQ(code_of(none.etcd_members()), ErrorCode::kNotSupported);
  EXPECT_EQ(code_of(none.remove_etcd_member("c1n1", Mode::kCommit)), ErrorCode::kNotSupported);
  const auto spare = none.spare_member("c1n1");
  ASSERT_TRUE(spare);
  EXPECT_FALSE(*spare);
}

TEST_F(MembersAdminTest, ListsThem) {
  const auto list = admin.etcd_members();
  ASSERT_TRUE(list);
  ASSERT_EQ((*list)["members"].size(), 2u);
  EXPECT_EQ((*list)["members"][0]["role"], "voter");
  EXPECT_EQ((*list)["members"][1]["role"], "learner");
}

TEST_F(MembersAdminTest, TheOnlyVoterStays) {
  EXPECT_EQ(code_of(admin.remove_etcd_member("c1n1", Mode::kCommit)), ErrorCode::kBusy);
  EXPECT_EQ(code_of(admin.remove_etcd_member("c1n9", Mode::kCommit)), ErrorCode::kNotFound);
  ASSERT_TRUE(admin.remove_etcd_member("c1n2", Mode::kDryRun));
  EXPECT_EQ(membership.all.size(), 2u);
  ASSERT_TRUE(admin.remove_etcd_member("2", Mode::kCommit)) << "by its id";
  EXPECT_EQ(membership.all.size(), 1u);
}

TEST_F(MembersAdminTest, AHeadWhoseMemberIsNeededIsNotSpared) {
  EXPECT_EQ(code_of(admin.spare_member("c1n1")), ErrorCode::kBusy);
  const auto learner = admin.spare_member("c1n2");
  ASSERT_TRUE(learner);
  ASSERT_TRUE(*learner);
  EXPECT_EQ((*learner)->id, 2u);
  const auto none = admin.spare_member("c1n3");
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST_F(MembersAdminTest, AMemberThatExistsIsNotInvitedAgain) {
  EXPECT_EQ(code_of(admin.add_etcd_learner("c1n2", "10.99.0.2")), ErrorCode::kAlreadyExists);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
