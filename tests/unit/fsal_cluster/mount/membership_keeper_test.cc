#include "fsal_cluster/mount/membership_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

constexpr MountId kSelf{3};
constexpr MountId kEnded{4};

// A watch that is late shows an ended mount long after its keys are gone. Taken over without end,
// it kept etcd busy with nothing (simulation of moves, seed 231221023000025018).
TEST(MembershipKeeper, TakesOverOnceHoweverLateTheWatchIs) {
  World world;
  SpySession& session = world.session();
  const FsId fs = world.fs();
  Peers peers(fs, kSelf);
  const auto record = [](std::string key) {
    return kv::KeyValue{std::move(key), "", Revision{10}, Revision{10}, 1};
  };
  const kv::KeyValue ended = record(kv::keys::mount_ended(fs, kEnded));
  peers.on_image({record(kv::keys::mount(fs, kSelf)), ended}, Revision{20});

  std::atomic<int> takeovers{0};
  Membership membership(Membership::Mode::kShared);
  const MembershipKeeper keeper(session, env::system_clock(), membership, peers, fs, kSelf,
                                {.turning_sole = [] { return Status(); },
                                 .take_over =
                                     [&](MountId) {
                                       ++takeovers;
                                       return Status();
                                     }});
  for (int i = 0; i < 5000 && takeovers == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time for thousands more
  EXPECT_EQ(takeovers, 1);
}

}  // namespace
}  // namespace symnas::fs
