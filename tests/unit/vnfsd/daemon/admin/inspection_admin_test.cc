#include "vnfsd/daemon/admin/inspection_admin.h"

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class InspectionAdminTest : public HeadWorld {
 protected:
  void SetUp() override {
    const auto made = formatted();
    ASSERT_TRUE(made) << made.error().message;
  }
  LunSet luns{head.config.cluster_uuid};
  FakeInstances instances;
  InspectionAdmin admin{head, reader, luns, instances};
};

TEST_F(InspectionAdminTest, ANewFilesystemIsConsistent) {
  const auto checked = admin.check_filesystem("u04", nobody_watches());
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(code_of(admin.check_filesystem("none", nobody_watches())), ErrorCode::kNotFound);
}

TEST_F(InspectionAdminTest, ItsRootCanBeLookedAt) {
  const auto root = admin.dump_inode("u04", {.path = "/", .ino = {}});
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(code_of(admin.dump_inode("u04", {.path = "/none", .ino = {}})), ErrorCode::kNotFound);
}

TEST_F(InspectionAdminTest, CapacityCountsEachFilesystem) {
  const auto capacity = admin.capacity();
  ASSERT_TRUE(capacity) << capacity.error().message;
  EXPECT_NE(capacity->dump().find("u04"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
