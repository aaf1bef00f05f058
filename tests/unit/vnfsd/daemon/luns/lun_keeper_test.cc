#include "vnfsd/daemon/luns/lun_keeper.h"

#include "tests/unit/cvm/lun_files.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/luns/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

class LunKeeperTest : public HeadWorld {
 protected:
  // A LUN of the cluster in a file.
  void import(const std::string& name) {
    const std::string path = files.make(name);
    const auto lun = cvm::import_lun({head.config.cluster_uuid, name, path, "", {}});
    ASSERT_TRUE(lun) << lun.error().message;
    builder.apply(
        [&](const ClusterView& v) { return plan_lun_import(v, *lun, "c1n1", files.directory()); });
  }
  void look() {
    keeper.look(builder.view(), [this] { ++found; });
  }
  cvm::LunFiles files;
  int found = 0;
  LunKeeper keeper{head, {}, [] {}};
};

TEST_F(LunKeeperTest, OpensWhatIsNewAndSaysSo) {
  look();
  EXPECT_EQ(found, 0);
  import("LUN0");
  look();
  EXPECT_EQ(found, 1);
  ASSERT_EQ(keeper.open_luns().paths().size(), 1u);
  EXPECT_EQ(keeper.open_luns().paths()[0].name, "LUN0");
  look();
  EXPECT_EQ(found, 1) << "there is nothing new";
}

TEST_F(LunKeeperTest, WhatIsMissingIsLookedForOnceInAWhile) {
  builder.lun("LUN1");  // nowhere
  import("LUN0");
  look();
  EXPECT_EQ(found, 1);
  pass_ms(kRescanMs / 2);
  look();
  pass_ms(kRescanMs);
  look();
  EXPECT_EQ(found, 1);
  EXPECT_EQ(keeper.open_luns().sights().size(), 2u);
}

TEST_F(LunKeeperTest, WithoutReservationsEveryLunMayBeUsed) {
  import("LUN0");
  look();
  EXPECT_EQ(keeper.registrations().reservations(), nullptr);
  EXPECT_TRUE(keeper.registrations().is_registered_on(builder.view(), "LUN0", "/anything"));
  EXPECT_EQ(*keeper.registrations().identification_of("LUN0", files.path("LUN0")), "");
}

TEST_F(LunKeeperTest, TheVersionOfTheSetFollowsLunsAndPaths) {
  const std::string before = lun_set_version(builder.view());
  builder.lun("LUN9");
  const std::string with_lun = lun_set_version(builder.view());
  EXPECT_NE(before, with_lun);
  records::HeadRecord record = builder.view().heads.at("c1n1").record;
  record.add_lun_paths("/elsewhere/*");
  builder.put(kv::keys::kHeads + std::string("c1n1"), record.SerializeAsString());
  EXPECT_NE(lun_set_version(builder.view()), with_lun);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
