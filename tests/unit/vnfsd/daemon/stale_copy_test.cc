// Agent whose watch has stopped telling: what it plans from old records is planned anew.
#include <atomic>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/daemon/agent.h"

namespace symnas::vnfsd::daemon {
namespace {

// A store whose watches bring nothing any more when it has been told so.
class DeafStore final : public kv::Store {
 public:
  explicit DeafStore(kv::Store& store) : store_(store) {}
  void go_deaf() { deaf_ = true; }

  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    store_.txn(std::move(txn), options, std::move(done));
  }
  std::unique_ptr<kv::Watch> watch(kv::KeyRange range, Revision start_revision,
                                   kv::WatchHandler* handler) override {
    const std::scoped_lock lock(mutex_);
    filters_.push_back(std::make_unique<Filter>(*this, *handler));
    return store_.watch(std::move(range), start_revision, filters_.back().get());
  }
  Status compact(Revision revision, kv::TryOptions options) override {
    return store_.compact(revision, options);
  }
  std::vector<kv::MemberStatus> status(kv::TryOptions options) override {
    return store_.status(options);
  }

 private:
  class Filter final : public kv::WatchHandler {
   public:
    Filter(const DeafStore& store, kv::WatchHandler& to) : store_(store), to_(to) {}
    void on_watch_created(Revision revision) override { to_.on_watch_created(revision); }
    void on_watch_events(std::vector<kv::WatchEvent> events, Revision revision) override {
      if (!store_.deaf_) to_.on_watch_events(std::move(events), revision);
    }
    void on_watch_ended(Error error) override { to_.on_watch_ended(std::move(error)); }

   private:
    const DeafStore& store_;
    kv::WatchHandler& to_;
  };

  kv::Store& store_;
  std::atomic<bool> deaf_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Filter>> filters_;
};

class StaleCopyTest : public ::testing::Test {
 protected:
  // c1n2 is the primary, so that the agent starts no supervisor for the VNFS.
  void SetUp() override {
    builder.head("c1n2", "10.99.0.2");
    builder.head("c1n3", "10.99.0.3");
    builder.basics();
    builder.apply([](const ClusterView& v) {
      VnfsRequest r = ViewBuilder::vnfs();
      r.heads = {"c1n2", "c1n3"};
      return plan_vnfs_create(v, r);
    });
    Config config;
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = "c1n3";
    config.head_address = "10.99.0.3";
    config.daemon.run_dir = ::testing::TempDir() + "symnas-stale-copy";
    agent = std::make_unique<Agent>(store, env::system_clock(), config, "boot");
    ASSERT_TRUE(agent->view());
    store.go_deaf();
  }
  ViewBuilder builder;
  DeafStore store{builder.store};
  std::unique_ptr<Agent> agent;
};

TEST_F(StaleCopyTest, AClaimKnowsOfEveryChange) {
  builder.apply([](const ClusterView& v) {
    ExportEdit edit;
    edit.name = "u04";
    edit.squash = "all";
    return plan_export_set(v, edit);
  });
  const auto plan = agent->claim("vnfs1", std::nullopt);
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
  ASSERT_TRUE(agent->prepare("vnfs1"));
  const auto standby = agent->prepare("vnfs1");
  ASSERT_TRUE(standby) << standby.error().message;
  ASSERT_GT(standby->epoch, Epoch(1));
  left(agent->prepare("vnfs1")->epoch.value());
  const auto plan = agent->claim("vnfs1", standby->epoch);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->epoch, standby->epoch);
}

TEST_F(StaleCopyTest, AStoppedVnfsIsNotClaimed) {
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_EQ(code_of(agent->claim("vnfs1", std::nullopt)), ErrorCode::kBusy);
}

// Believing that nobody owns it would be no fence at all: it wants the LUNs, which are not here.
TEST_F(StaleCopyTest, AFenceKnowsOfTheOwnClaim) {
  ASSERT_TRUE(agent->claim("vnfs1", std::nullopt));
  EXPECT_EQ(code_of(agent->fence("vnfs1")), ErrorCode::kNotFound);
}

// Its instance may have come to use what the watch has not shown.
TEST_F(StaleCopyTest, AFenceWantsTheLunsOfNow) {
  ASSERT_TRUE(agent->claim("vnfs1", std::nullopt));
  builder.apply([](const ClusterView& v) {
    Change change{"the volume lies elsewhere", {}};
    cvm::records::VolumeRecord volume = v.volumes.at("v1").record;
    volume.mutable_segments(0)->set_lun_uuids(0, v.luns.at("LUN3").record.uuid());
    change.txn.success.push_back(kv::put(kv::keys::kVolumes + "v1", volume.SerializeAsString()));
    return Result<Change>(change);
  });
  const Status fenced = agent->fence("vnfs1");
  EXPECT_EQ(code_of(fenced), ErrorCode::kNotFound);
  EXPECT_NE(fenced.error().message.find("lun LUN3"), std::string::npos) << fenced.error().message;
}

// Mounts of the filesystems that the copy knows are read beside the records; this one it does not.
TEST_F(StaleCopyTest, AFenceEndsMountsOfTheNewestFilesystem) {
  ASSERT_TRUE(agent->claim("vnfs1", std::nullopt));
  builder.mounted_beside();
  const Status fenced = agent->fence("vnfs1");
  EXPECT_EQ(code_of(fenced), ErrorCode::kNotFound);
  EXPECT_NE(fenced.error().message.find("lun LUN2"), std::string::npos) << fenced.error().message;
}

TEST_F(StaleCopyTest, AReleaseKnowsOfTheOwnClaimAndOfTheOrder) {
  const auto plan = agent->claim("vnfs1", std::nullopt);
  ASSERT_TRUE(plan);
  records::MoveRecord move;
  move.set_from("c1n3");
  move.set_to("c1n2");
  builder.put(kv::keys::kMoves + "vnfs1", move.SerializeAsString());
  instance::Farewell farewell;
  farewell.departure.set_epoch(plan->epoch.value());
  ASSERT_TRUE(agent->release("vnfs1", farewell));
  const ClusterView view = builder.view();
  EXPECT_FALSE(view.owners.contains("vnfs1"));
  EXPECT_EQ(view.moves.at("vnfs1").record.departure().epoch(), plan->epoch.value());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
