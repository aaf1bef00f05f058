#include "fsal_cluster/state/life_signs.h"

#include <gtest/gtest.h>

#include "fsal_cluster/types/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kMs = 1'000'000;

class LifeSignsTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    kv::Txn txn;
    txn.success = {kv::put(key, value)};
    ASSERT_TRUE(kv::txn_blocking(*formatted.store, std::move(txn), 1000));
  }
  void mount(std::uint64_t id, std::uint32_t vnfs, std::uint32_t answers_ms,
             std::uint64_t epoch = 1) {
    records::MountRecord record;
    record.set_vnfs_id(vnfs);
    record.set_epoch(epoch);
    record.set_answers_ms(answers_ms);
    put(kv::keys::mount(formatted.fs, MountId{id}), record.SerializeAsString());
  }
  void beat(std::uint64_t id) { put(kv::keys::heartbeat(formatted.fs, MountId{id}), "beat"); }
  LifeSigns look() {
    auto signs =
        look_at_life_signs(*formatted.store, clock, {{VnfsId{1}, Epoch{5}}, {VnfsId{2}, Epoch{5}}});
    EXPECT_TRUE(signs) << signs.error().message;
    return *signs;
  }
  // How long after the second look they are silent; nullopt: that is not known.
  std::optional<std::int64_t> pause_ms(const LifeSigns* before, const LifeSigns& after) {
    const auto silent_ns = silent_from_ns(before, after);
    if (!silent_ns) return std::nullopt;
    return (*silent_ns - after.seen_ns) / kMs;
  }

  Formatted formatted;
  env::ManualClock clock;
};

TEST_F(LifeSignsTest, LivingMountsOfTheseVnfses) {
  mount(1, 1, 450);
  mount(2, 2, 300);
  mount(3, 3, 9000);
  mount(4, 1, 9000, 6);
  mount(5, 1, 9000);
  put(kv::keys::mount_ended(formatted.fs, MountId{5}), records::EndRecord().SerializeAsString());
  beat(2);
  const LifeSigns signs = look();
  ASSERT_EQ(signs.heartbeats.size(), 2u);
  EXPECT_EQ(signs.heartbeats.at({formatted.fs, MountId{1}}), Revision{0});
  EXPECT_GT(signs.heartbeats.at({formatted.fs, MountId{2}}), Revision{0});
  EXPECT_EQ(signs.answers_ms, 450);
  EXPECT_EQ(signs.seen_ns, clock.mono_ns());
}

TEST_F(LifeSignsTest, WhatHasNotMovedIsAsOldAsTheFirstLook) {
  mount(1, 1, 450);
  beat(1);
  const LifeSigns before = look();
  clock.advance_ns(200 * kMs);
  // 450 ms of a clock that is a tenth slow, by one that is a tenth fast.
  EXPECT_EQ(pause_ms(&before, look()), 551 - 200);
  clock.advance_ns(3'000 * kMs);
  EXPECT_LT(pause_ms(&before, look()), 0) << "the fence itself has taken longer";
}

TEST_F(LifeSignsTest, AHeartbeatInBetweenCountsFromTheSecondLook) {
  mount(1, 1, 450);
  mount(2, 2, 450);
  beat(1);
  const LifeSigns before = look();
  clock.advance_ns(200 * kMs);
  beat(1);
  EXPECT_EQ(pause_ms(&before, look()), 551);
}

TEST_F(LifeSignsTest, SoDoesTheFirstHeartbeatAndAMountThatWasNotThere) {
  mount(1, 1, 450);
  const LifeSigns before = look();
  clock.advance_ns(200 * kMs);
  beat(1);
  EXPECT_EQ(pause_ms(&before, look()), 551);
  const LifeSigns with_one = look();
  clock.advance_ns(200 * kMs);
  mount(2, 2, 450);
  EXPECT_EQ(pause_ms(&with_one, look()), 551) << "its claim is a sign of life, too";
}

TEST_F(LifeSignsTest, WithoutAFirstLookEverythingCountsFromTheSecond) {
  mount(1, 1, 450);
  EXPECT_EQ(pause_ms(nullptr, look()), 551);
}

TEST_F(LifeSignsTest, WhoHasEndedSinceIsNotWaitedFor) {
  mount(1, 1, 450);
  mount(2, 2, 0);
  const LifeSigns before = look();
  put(kv::keys::mount_ended(formatted.fs, MountId{2}), records::EndRecord().SerializeAsString());
  EXPECT_EQ(pause_ms(&before, look()), 551);
}

TEST_F(LifeSignsTest, AMountOfAnEarlierVersionDoesNotSay) {
  mount(1, 1, 450);
  mount(2, 2, 0);
  const LifeSigns before = look();
  EXPECT_FALSE(pause_ms(&before, look()).has_value());
}

TEST_F(LifeSignsTest, MoreMountsThanOneTransactionReads) {
  for (std::uint64_t id = 1; id <= kReadKeysMax + 2; ++id) mount(id, 1, 450);
  beat(kReadKeysMax + 2);
  const LifeSigns signs = look();
  EXPECT_EQ(signs.heartbeats.size(), kReadKeysMax + 2);
  EXPECT_GT(signs.heartbeats.at({formatted.fs, MountId{kReadKeysMax + 2}}), Revision{0});
}

}  // namespace
}  // namespace symnas::fs
