#include "fsal_cluster/state/served.h"

#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

class ServedTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    kv::Txn txn;
    txn.success = {kv::put(key, value)};
    ASSERT_TRUE(kv::txn_blocking(world.store(), std::move(txn), 1000));
  }
  void claim(std::uint64_t id, const std::string& vnfs) {
    records::MountRecord record;
    record.set_vnfs(vnfs);
    put(kv::keys::mount_claim(world.fs()), std::to_string(id));
    put(kv::keys::mount(world.fs(), MountId{id}), record.SerializeAsString());
  }
  void end(std::uint64_t id) {
    put(kv::keys::mount_ended(world.fs(), MountId{id}), records::EndRecord().SerializeAsString());
  }
  std::optional<Revision> unserved(const std::string& vnfs) {
    const auto since = unserved_since(world.session(), world.fs(), vnfs);
    EXPECT_TRUE(since) << since.error().message;
    return since ? *since : std::nullopt;
  }
  bool holds(const kv::Compare& compare) {
    kv::Txn txn;
    txn.compares = {compare};
    const auto done = kv::txn_blocking(world.store(), std::move(txn), 1000);
    EXPECT_TRUE(done);
    return done && done->succeeded;
  }

  World world;
};

TEST_F(ServedTest, ByTheMountThatHasNotEnded) {
  claim(70, "anna");
  claim(71, "bert");
  EXPECT_FALSE(unserved("anna"));
  EXPECT_TRUE(unserved("carl"));
  end(70);
  EXPECT_TRUE(unserved("anna"));
  EXPECT_FALSE(unserved("bert"));
  claim(72, "anna");
  EXPECT_FALSE(unserved("anna"));
}

TEST_F(ServedTest, TheProofHoldsUntilTheNextClaim) {
  claim(70, "anna");
  end(70);
  const auto since = unserved("anna");
  ASSERT_TRUE(since);
  EXPECT_EQ(unserved("anna"), since);
  EXPECT_TRUE(holds(no_claim_since(world.fs(), *since)));
  claim(71, "bert");  // whoever it is
  EXPECT_FALSE(holds(no_claim_since(world.fs(), *since)));
  EXPECT_NE(unserved("anna"), since);
}

}  // namespace
}  // namespace symnas::fs
