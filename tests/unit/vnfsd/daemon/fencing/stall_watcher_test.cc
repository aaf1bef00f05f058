#include "vnfsd/daemon/fencing/stall_watcher.h"

#include <nlohmann/json.hpp>

#include "common/kv/keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr FsId kFs{1};

// Of filesystem u04, mount 5 is an instance of `victim`; mount 6 shows heartbeats. c1n3 serves it.
class StallWatcherTest : public HeadWorld {
 protected:
  void set_up(const std::string& victim) {
    builder.three_heads().basics().vnfs1().owner("vnfs1", "c1n3");
    put_mount(MountId(5), victim);
    put_mount(MountId(6), "c1n1");
    builder.put(kv::keys::heartbeat(kFs, MountId(5)), "beat");
  }
  void put_mount(MountId id, const std::string& on) {
    fs::records::MountRecord mount;
    mount.set_head(on);
    mount.set_head_incarnation("boot of " + on);
    mount.set_vnfs("vnfs1");
    mount.set_vnfs_id(1);
    mount.set_epoch(7);
    builder.put(kv::keys::mount(kFs, id), mount.SerializeAsString());
  }
  void look_for_ms(std::int64_t ms) {
    for (std::int64_t passed = 0; passed < ms; passed += kStallLookMs) {
      pass_ms(kStallLookMs);
      builder.put(kv::keys::heartbeat(kFs, MountId(6)), "beat");
      watcher.look();
      fencing.wait();
    }
  }

  std::vector<std::string> asked;
  FakeInstances instances;
  std::stop_source end;
  HistoryWriter history{head, event_writer};
  FenceMeans means{head,
                   nullptr,
                   {[this](const std::string& name) -> Result<std::string> {
                      asked.push_back(name);
                      return fail(ErrorCode::kUnavailable, "no power switch");
                    },
                    nullptr},
                   end.get_token()};
  Fencing fencing{{head, reader, event_writer, history, means}};
  StallWatcher watcher{head, reader, instances, fencing, end.get_token()};
};

TEST_F(StallWatcherTest, WhoShowsHeartbeatsIsNoStall) {
  set_up("c1n3");
  pass_ms(kStallLookMs);
  watcher.look();
  EXPECT_TRUE(watcher.stalls().empty());
}

TEST_F(StallWatcherTest, AnInstanceOfThisHeadIsEnded) {
  set_up("c1n3");
  look_for_ms(kSilentMs + 2 * kStallLookMs);
  ASSERT_EQ(watcher.stalls().size(), 1u);
  EXPECT_EQ(watcher.stalls()[0]["head"], "c1n3");
  EXPECT_TRUE(instances.ended.empty());
  look_for_ms(kEndSilentMs);
  ASSERT_FALSE(instances.ended.empty());
  EXPECT_NE(instances.ended[0].find("vnfs1 7: silent for"), std::string::npos);
  EXPECT_TRUE(asked.empty());
}

TEST_F(StallWatcherTest, AnotherHeadIsFenced) {
  set_up("c1n2");
  look_for_ms(kFenceIdleMs);
  EXPECT_TRUE(asked.empty());
  look_for_ms(4 * kStallLookMs);
  EXPECT_EQ(asked, std::vector<std::string>{"c1n2"});
  EXPECT_TRUE(instances.ended.empty());
}

TEST_F(StallWatcherTest, NothingIsSeenBeforeTheHeadIsRegistered) {
  set_up("c1n2");
  reader.ready = false;
  look_for_ms(2 * kFenceIdleMs);
  EXPECT_TRUE(watcher.stalls().empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
