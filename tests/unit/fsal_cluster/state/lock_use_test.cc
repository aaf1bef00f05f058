#include "fsal_cluster/state/lock_use.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/state/lock_record.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kDeadlineMs = 1000;
constexpr FsId kFs{3};

std::string key_of(std::uint64_t ino, const std::string& vnfs, const std::string& owner) {
  return lock_key(kFs, Ino{ino}, vnfs, {LockProtocol::kNlm, "client", owner});
}

class LockUseTest : public ::testing::Test {
 protected:
  void put(const std::string& key) {
    kv::Txn txn;
    txn.success.push_back(kv::put(key, "x"));
    ASSERT_TRUE(kv::txn_blocking(store, std::move(txn), kDeadlineMs));
  }
  std::size_t count(const std::string& vnfs) {
    const auto use = lock_use(store, kFs, vnfs, kDeadlineMs);
    EXPECT_TRUE(use);
    return use ? use->keys.size() : 0;
  }
  kv::MemStore store;
};

TEST_F(LockUseTest, CountsThoseOfOneVnfs) {
  put(key_of(16, "v1", "a"));
  put(key_of(16, "v1", "b"));
  put(key_of(17, "v10", "a"));
  EXPECT_EQ(count("v1"), 2u);
  EXPECT_EQ(count("v10"), 1u);
  EXPECT_EQ(count("v"), 0u);
}

TEST_F(LockUseTest, ReadsMoreThanAPage) {
  for (int i = 0; i < 2001; ++i) put(key_of(16, "v1", std::to_string(i)));
  EXPECT_EQ(count("v1"), 2001u);
}

TEST_F(LockUseTest, KeysThatAreNoneAreOfNoVnfs) {
  const std::string whole = key_of(16, "v1", "");
  for (std::size_t size = kv::keys::locks(kFs).size() + 1; size < whole.size(); ++size)
    put(whole.substr(0, size));
  EXPECT_EQ(count("v1"), 0u);
  EXPECT_EQ(count(""), 0u);
  put(whole);
  EXPECT_EQ(count("v1"), 1u);
}

TEST_F(LockUseTest, ForgetsThoseAndNoOthers) {
  for (int i = 0; i < 1200; ++i) put(key_of(16, "v1", std::to_string(i)));
  put(key_of(16, "v2", "a"));
  put(lock_order_key(kFs, key_of(16, "v1", "7")));
  put(lock_order_key(kFs, key_of(16, "v2", "a")));
  const auto use = lock_use(store, kFs, "v1", kDeadlineMs);
  ASSERT_TRUE(use);
  ASSERT_TRUE(forget_locks(store, kFs, *use, "c/vnfs/v1", kDeadlineMs));
  EXPECT_EQ(count("v1"), 0u);
  EXPECT_EQ(count("v2"), 1u);
  const auto orders =
      kv::range_blocking(store, kv::prefix_range(kv::keys::lock_orders(kFs)), 0, kDeadlineMs);
  ASSERT_EQ(orders->kvs.size(), 1u);
  EXPECT_EQ(orders->kvs[0].key, lock_order_key(kFs, key_of(16, "v2", "a")));
}

TEST_F(LockUseTest, ForgetsNothingOfOneThatWasMadeAgain) {
  put(key_of(16, "v1", "a"));
  const auto use = lock_use(store, kFs, "v1", kDeadlineMs);
  put("c/vnfs/v1");
  const auto gone = forget_locks(store, kFs, *use, "c/vnfs/v1", kDeadlineMs);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kConflict);
  EXPECT_EQ(count("v1"), 1u);
}

}  // namespace
}  // namespace symnas::fs
