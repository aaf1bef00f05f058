#include "vnfsd/daemon/upkeep/upkeep.h"

#include "tests/unit/vnfsd/daemon/fake_membership.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/upkeep/limits.h"
#include "vnfsd/daemon/upkeep/members.h"

namespace symnas::vnfsd::daemon {
namespace {

using Role = kv::StoreMember::Role;

Config of_first_member() {
  Config config = config_of("c1n3");
  config.etcd.endpoints = {etcd_client_url("10.99.0.1")};
  return config;
}

class UpkeepTest : public HeadWorld {
 protected:
  UpkeepTest() : HeadWorld(of_first_member()) {}
  void look() {
    pass_ms(kMembersLookMs);
    upkeep.look();
  }
  FakeMembership membership;
  std::vector<std::vector<std::string>> changed;
  std::stop_source end;
  FenceMeans means{head, nullptr, {}, end.get_token()};
  Upkeep upkeep{{head, reader, event_writer, quota, means, &membership,
                 [this](const std::vector<std::string>& now) { changed.push_back(now); }},
                end.get_token()};
};

TEST_F(UpkeepTest, PromotesALearnerThatHasCaughtUpAndSaysWhoIsThereNow) {
  membership.caught_up = false;
  look();
  EXPECT_TRUE(changed.empty());
  membership.caught_up = true;
  look();
  EXPECT_EQ(membership.all[1].role, Role::kVoter);
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].size(), 2u);
}

TEST_F(UpkeepTest, WritesEventsWhenTheHeadIsRegistered) {
  reader.ready = false;
  event_writer.tell(event::kHeadDrained, "head c1n3: is drained");
  upkeep.look();
  EXPECT_TRUE(events().empty());
  reader.ready = true;
  upkeep.look();
  EXPECT_EQ(events(), std::vector<std::string>{"head-drained"});
}

TEST_F(UpkeepTest, AFenceAgentThatIsNotConfiguredIsNotAtFault) {
  look();
  look();
  EXPECT_EQ(upkeep.fence_agent_error(), "");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
