#include "vnfsd/daemon/admin/records_admin.h"

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class RecordsAdminTest : public HeadWorld {
 protected:
  Result<std::string> create(Mode mode) {
    return admin.change(
        [](const ClusterView& v) {
          return plan_network_create(v, {"nfs0", "eth1", 0, ""});
        },
        mode);
  }
  RecordsAdmin admin{head, reader, event_writer};
};

TEST_F(RecordsAdminTest, ShowsAndChangesThem) {
  ASSERT_TRUE(create(Mode::kDryRun));
  EXPECT_TRUE(admin.view()->networks.empty());
  ASSERT_TRUE(create(Mode::kCommit));
  EXPECT_TRUE(admin.view()->networks.contains("nfs0"));
  EXPECT_EQ(events(), std::vector<std::string>{"change"});
}

TEST_F(RecordsAdminTest, NothingIsDoneBeforeTheHeadIsRegistered) {
  reader.ready = false;
  EXPECT_EQ(code_of(admin.view()), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(create(Mode::kCommit)), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
