// A claim, a fence and a release whose copy of the records lags behind: what is planned from old
// records is planned anew.
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/ownership/ownership.h"

namespace symnas::vnfsd::daemon {
namespace {

// The copy shows what was when the test began.
class StaleCopyTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.three_heads().basics().vnfs1({"c1n2", "c1n3"});
    reader.copy = builder.view();
  }
  LunSet luns{head.config.cluster_uuid};
  const Registrations registrations{head, {}, luns, [] {}};
  HistoryWriter history{head, event_writer};
  Ownership owner{{head, reader, event_writer, history, luns, registrations}};
};

TEST_F(StaleCopyTest, AClaimKnowsOfEveryChange) {
  builder.apply([](const ClusterView& v) {
    ExportEdit edit;
    edit.name = "u04";
    edit.squash = "all";
    return plan_export_set(v, edit);
  });
  const auto plan = owner.claim("vnfs1", std::nullopt);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->exports.size(), 1u);
  EXPECT_EQ(plan->exports[0].squash(), records::SQUASH_ALL);
}

// The copy shows that its owner was fenced with epoch 1.
class StaleFallTest : public StaleCopyTest {
 protected:
  void SetUp() override {
    left(1);
    StaleCopyTest::SetUp();
  }
  void left(std::uint64_t epoch) {
    records::LeftRecord record;
    record.set_epoch(epoch);
    builder.put(kv::keys::kLeft + "vnfs1", record.SerializeAsString());
  }
};

// Since then the VNFS has been served and fenced on another head, later than the standby began:
// with the standby's epoch the end records would not reach those mounts (INV-8).
TEST_F(StaleFallTest, AStandbyKnowsOfTheLastEpoch) {
  ASSERT_TRUE(owner.prepare("vnfs1"));
  const auto standby = owner.prepare("vnfs1");
  ASSERT_TRUE(standby) << standby.error().message;
  ASSERT_GT(standby->epoch, Epoch(1));
  left(owner.prepare("vnfs1")->epoch.value());
  const auto plan = owner.claim("vnfs1", standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, standby->epoch);
}

TEST_F(StaleCopyTest, AStoppedVnfsIsNotClaimed) {
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_EQ(code_of(owner.claim("vnfs1", std::nullopt)), ErrorCode::kBusy);
}

// Believing that nobody owns it would be no fence at all: it wants the LUNs, which are not here.
TEST_F(StaleCopyTest, AFenceKnowsOfTheOwnClaim) {
  ASSERT_TRUE(owner.claim("vnfs1", std::nullopt));
  EXPECT_EQ(code_of(owner.fence("vnfs1")), ErrorCode::kNotFound);
}

// Its instance may have come to use what the watch has not shown.
TEST_F(StaleCopyTest, AFenceWantsTheLunsOfNow) {
  ASSERT_TRUE(owner.claim("vnfs1", std::nullopt));
  builder.apply([](const ClusterView& v) {
    Change change{"the volume lies elsewhere", {}};
    cvm::records::VolumeRecord volume = v.volumes.at("v1").record;
    volume.mutable_segments(0)->set_lun_uuids(0, v.luns.at("LUN3").record.uuid());
    change.txn.success.push_back(kv::put(kv::keys::kVolumes + "v1", volume.SerializeAsString()));
    return Result<Change>(change);
  });
  const Status fenced = owner.fence("vnfs1");
  EXPECT_EQ(code_of(fenced), ErrorCode::kNotFound);
  EXPECT_NE(fenced.error().message.find("lun LUN3"), std::string::npos) << fenced.error().message;
}

// Mounts of the filesystems that the copy knows are read beside the records; this one it does not.
TEST_F(StaleCopyTest, AFenceEndsMountsOfTheNewestFilesystem) {
  ASSERT_TRUE(owner.claim("vnfs1", std::nullopt));
  builder.mounted_beside();
  const Status fenced = owner.fence("vnfs1");
  EXPECT_EQ(code_of(fenced), ErrorCode::kNotFound);
  EXPECT_NE(fenced.error().message.find("lun LUN2"), std::string::npos) << fenced.error().message;
}

TEST_F(StaleCopyTest, AReleaseKnowsOfTheOwnClaimAndOfTheOrder) {
  const auto plan = owner.claim("vnfs1", std::nullopt);
  ASSERT_TRUE(plan);
  records::MoveRecord move;
  move.set_from("c1n3");
  move.set_to("c1n2");
  builder.put(kv::keys::kMoves + "vnfs1", move.SerializeAsString());
  instance::Farewell farewell;
  farewell.departure.set_epoch(plan->epoch.value());
  ASSERT_TRUE(owner.release("vnfs1", farewell));
  const ClusterView view = builder.view();
  EXPECT_FALSE(view.owners.contains("vnfs1"));
  EXPECT_EQ(view.moves.at("vnfs1").record.departure().epoch(), plan->epoch.value());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
