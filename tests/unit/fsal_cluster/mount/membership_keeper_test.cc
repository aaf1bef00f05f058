#include "fsal_cluster/mount/membership_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
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

// What began alone waits for what an ended mount has left (a token, say): the mount that makes room
// takes over from that one meanwhile, and lets others in when all has ended, not before.
TEST(MembershipKeeper, TakesOverWhileItMakesRoom) {
  World world;
  SpySession& session = world.session();
  const FsId fs = world.fs();
  kv::Mutation alone;
  alone.writes = {kv::put(kv::keys::solo(fs), std::to_string(kSelf.value()))};
  const auto put = session.commit_blocking(alone);
  ASSERT_TRUE(put && put->succeeded);
  const auto record = [&](std::string key, std::string value) {
    return kv::KeyValue{std::move(key), std::move(value), put->revision, put->revision, 1};
  };
  Peers peers(fs, kSelf);
  peers.on_image(
      {record(kv::keys::mount(fs, kSelf), ""), record(kv::keys::mount_ended(fs, kEnded), ""),
       record(kv::keys::solo(fs), std::to_string(kSelf.value())),
       record(kv::keys::want_solo(fs), "")},
      put->revision);

  const auto solo_is_there = [&] {
    return !session.range(kv::single_key(kv::keys::solo(fs)), 1)->kvs.empty();
  };
  Membership membership(Membership::Mode::kSole);
  std::optional<Membership::Stay> stay(membership.enter());
  std::atomic<bool> alone_still{false};
  const MembershipKeeper keeper(session, env::system_clock(), membership, peers, fs, kSelf,
                                {.turning_sole = [] { return Status(); },
                                 .take_over =
                                     [&](MountId) {
                                       alone_still = solo_is_there();
                                       stay.reset();
                                       return Status();
                                     }});
  for (int i = 0; i < 5000 && solo_is_there(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(solo_is_there());
  EXPECT_TRUE(alone_still);
  EXPECT_TRUE(membership.is_settled());
}

}  // namespace
}  // namespace symnas::fs
