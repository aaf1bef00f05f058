#include "fsal_cluster/state/lock_record.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/kv/keys.h"

namespace symnas::fs {
namespace {

constexpr FsId kFs{7};
const LockOwner kBert{LockProtocol::kNlm, "10.0.0.2 10.0.0.1 host", std::string("\0\0\0\1oh", 6)};

TEST(LockRecordTest, KeysSayWhoseLocksTheyAre) {
  const std::string key = lock_key(kFs, Ino{18}, "v1", kBert);
  EXPECT_EQ(to_hex(key), "662f00000007754c00000000000000126e000000027631" +
                             to_hex(std::string("\0\0\0\x16", 4) + kBert.client + kBert.owner));
  const auto holder = parse_lock_key(kFs, key);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->ino, Ino{18});
  EXPECT_EQ(holder->vnfs, "v1");
  EXPECT_EQ(holder->owner, kBert);
}

TEST(LockRecordTest, KeysOfOrdersLieInTheWatchedArea) {
  const std::string key = lock_key(kFs, Ino{18}, "v1", kBert);
  const std::string order = lock_order_key(kFs, key);
  EXPECT_TRUE(order.starts_with(kv::keys::lock_orders(kFs)));
  EXPECT_EQ(ordered_lock_key(kFs, order), key);
  EXPECT_FALSE(ordered_lock_key(kFs, key));
}

TEST(LockRecordTest, WhatIsCutOffIsNoKey) {
  const std::string key = lock_key(kFs, Ino{18}, "v1", kBert);
  const std::size_t whole = key.size() - kBert.owner.size();
  for (std::size_t size = 0; size < whole; ++size)
    EXPECT_FALSE(parse_lock_key(kFs, key.substr(0, size))) << size;
  EXPECT_TRUE(parse_lock_key(kFs, key.substr(0, whole)));
}

TEST(LockRecordTest, EverythingIsKept) {
  const RecordedLock lock{
      {{0, 9, LockMode::kShared}, {20, UINT64_MAX, LockMode::kExclusive}}, {5, "verifier"}, 12345};
  const auto record = to_record(Ino{18}, "v1", kBert, lock);
  EXPECT_EQ(owner_of(record), kBert);
  EXPECT_EQ(lock_of(record).ranges, lock.ranges);
  EXPECT_EQ(lock_of(record).life, lock.life);
  EXPECT_EQ(lock_of(record).since_ns, 12345);
}

}  // namespace
}  // namespace symnas::fs
