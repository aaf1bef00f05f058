#include "fsal_cluster/state/waits.h"

#include <gtest/gtest.h>

#include "fsal_cluster/types/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

class WaitsTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    kv::Txn txn;
    txn.success = {kv::put(key, value)};
    ASSERT_TRUE(kv::txn_blocking(*formatted.store, std::move(txn), 1000));
  }
  void mount(std::uint64_t id) {
    records::MountRecord record;
    record.set_vnfs("vnfs" + std::to_string(id));
    put(kv::keys::mount(formatted.fs, MountId{id}), record.SerializeAsString());
  }
  void token(std::uint64_t ino, std::uint64_t mount, records::TokenRecord::Mode mode) {
    records::TokenRecord record;
    record.set_mode(mode);
    put(kv::keys::token(formatted.fs, Ino{ino}, MountId{mount}), record.SerializeAsString());
  }
  void want(std::uint64_t ino, std::uint64_t mount, records::WantRecord::Kind kind) {
    records::WantRecord record;
    record.set_kind(kind);
    record.set_mount(mount);
    put(kv::keys::want(formatted.fs, Ino{ino}), record.SerializeAsString());
  }
  Waits look() {
    auto waits = look_at_waits(*formatted.store, formatted.fs, 1000);
    EXPECT_TRUE(waits) << waits.error().message;
    return *waits;
  }
  std::vector<MountId> ids(const Waits& waits) {
    std::vector<MountId> out;
    for (const auto& mount : waits.mounts) out.push_back(mount.entry.id);
    return out;
  }

  Formatted formatted;
};

TEST_F(WaitsTest, LivingMountsWithTheirHeartbeats) {
  mount(1);
  mount(2);
  mount(3);
  put(kv::keys::mount_ended(formatted.fs, MountId{2}), records::EndRecord().SerializeAsString());
  put(kv::keys::heartbeat(formatted.fs, MountId{3}), "");
  const Waits waits = look();
  EXPECT_EQ(ids(waits), (std::vector{MountId{1}, MountId{3}}));
  EXPECT_EQ(waits.mounts[0].heartbeat, Revision{0});
  EXPECT_GT(waits.mounts[1].heartbeat, Revision{0});
  EXPECT_TRUE(waits.wants.empty());
}

TEST_F(WaitsTest, OnlyTokensThatConflictHaveToAnswer) {
  using Mode = records::TokenRecord;
  using Kind = records::WantRecord;
  for (std::uint64_t ino = 10; ino <= 12; ++ino) token(ino, 2, Mode::S);
  token(10, 1, Mode::S);
  token(11, 3, Mode::X);
  want(10, 1, Kind::X);
  want(11, 1, Kind::S);
  want(12, 1, Kind::PUBLISH);
  const Waits waits = look();
  ASSERT_EQ(waits.wants.size(), 3u);
  EXPECT_EQ(waits.wants[0].holders, std::vector{MountId{2}}) << "its own token is no obstacle";
  EXPECT_EQ(waits.wants[1].holders, std::vector{MountId{3}});
  EXPECT_EQ(waits.wants[2].holders, std::vector<MountId>{}) << "nothing to publish under S";
  EXPECT_EQ(waits.wants[0].by, MountId{1});
}

TEST_F(WaitsTest, TheSoleMountHasToAnswerWhoWantsToJoin) {
  put(kv::keys::solo(formatted.fs), "7");
  EXPECT_TRUE(look().wants.empty());
  put(kv::keys::want_solo(formatted.fs), "3");
  const Waits waits = look();
  ASSERT_EQ(waits.wants.size(), 1u);
  EXPECT_EQ(waits.wants[0].holders, std::vector{MountId{7}});
}

TEST_F(WaitsTest, OfManyWantsTheOldest) {
  for (std::uint64_t ino = 200; ino > 100; --ino) want(ino, 1, records::WantRecord::X);
  const Waits waits = look();
  ASSERT_EQ(waits.wants.size(), kWantsLookedAt);
  EXPECT_EQ(waits.wants.front().key, kv::keys::want(formatted.fs, Ino{200}));
}

}  // namespace
}  // namespace symnas::fs
