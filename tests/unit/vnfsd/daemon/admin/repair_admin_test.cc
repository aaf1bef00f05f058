#include "vnfsd/daemon/admin/repair_admin.h"

#include <nlohmann/json.hpp>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/records/care_events.h"

namespace symnas::vnfsd::daemon {
namespace {

class RepairAdminTest : public HeadWorld {
 protected:
  void SetUp() override {
    const auto made = formatted();
    ASSERT_TRUE(made) << made.error().message;
    id = FsId{made->fsid()};
  }
  // Blocks that no file has.
  void plant() {
    fs::records::ReverseMap lost;
    lost.set_ino(99);
    lost.set_blocks(2);
    fs::records::GroupOwner nobody;
    kv::Txn txn;
    txn.success = {kv::put(kv::keys::reverse_map(id, 0, 5), lost.SerializeAsString()),
                   kv::put(kv::keys::group_owner(id, 0), nobody.SerializeAsString())};
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), 1000).has_value());
  }
  FsId id;
  RepairAdmin admin{head, reader, event_writer};
};

TEST_F(RepairAdminTest, CarriesOutThePlanThatWasShown) {
  plant();
  const auto plan = admin.plan_repair("u04", nobody_watches());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ((*plan)["findings_total"], 1);
  EXPECT_EQ((*plan)["due"], 1);
  EXPECT_EQ((*plan)["steps"][0]["verdict"], "repair");
  EXPECT_EQ((*plan)["steps"][0]["keys"].size(), 1U);
  const auto done = admin.repair("u04", (*plan)["plan"], nobody_watches());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ((*done)["done"], 1);
  const auto again = admin.plan_repair("u04", nobody_watches());
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)["findings_total"], 0);
  const auto log = admin.repairs("u04");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ((*log)["repairs"].size(), 1U);
  write_told();
  EXPECT_NE(event_text(event::kRepaired).find("1 finding was repaired"), std::string::npos);
}

TEST_F(RepairAdminTest, APlanIsCarriedOutOnce) {
  plant();
  const auto plan = admin.plan_repair("u04", nobody_watches());
  ASSERT_TRUE(plan);
  EXPECT_EQ(code_of(admin.repair("u04", "7-8", nobody_watches())), ErrorCode::kConflict);
  ASSERT_TRUE(admin.repair("u04", (*plan)["plan"], nobody_watches()));
  EXPECT_EQ(code_of(admin.repair("u04", (*plan)["plan"], nobody_watches())), ErrorCode::kConflict);
}

TEST_F(RepairAdminTest, ThereIsNoSuchFilesystem) {
  EXPECT_EQ(code_of(admin.plan_repair("none", nobody_watches())), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(admin.repairs("none")), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
