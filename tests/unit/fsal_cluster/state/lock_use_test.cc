#include "fsal_cluster/state/lock_use.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kDeadlineMs = 1000;
constexpr FsId kFs{3};

std::string lock_key(std::uint64_t ino, const std::string& vnfs, const std::string& owner) {
  std::string key = kv::keys::locks(kFs);
  append_be64(key, ino);
  key.push_back('n');
  append_be32(key, static_cast<std::uint32_t>(vnfs.size()));
  key += vnfs;
  append_be32(key, 6);
  return key + "client" + owner;
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
  put(lock_key(16, "v1", "a"));
  put(lock_key(16, "v1", "b"));
  put(lock_key(17, "v10", "a"));
  EXPECT_EQ(count("v1"), 2u);
  EXPECT_EQ(count("v10"), 1u);
  EXPECT_EQ(count("v"), 0u);
}

TEST_F(LockUseTest, ReadsMoreThanAPage) {
  for (int i = 0; i < 2001; ++i) put(lock_key(16, "v1", std::to_string(i)));
  EXPECT_EQ(count("v1"), 2001u);
}

TEST_F(LockUseTest, ShortKeysAreOfNoVnfs) {
  const std::string whole = lock_key(16, "v1", "");
  const std::size_t prefix = kv::keys::locks(kFs).size();
  for (std::size_t size = prefix; size < prefix + 8 + 1 + 4 + 2; ++size)
    EXPECT_EQ(vnfs_of_lock(whole.substr(0, size), prefix), "") << size;
  EXPECT_EQ(vnfs_of_lock(whole, prefix), "v1");
}

TEST_F(LockUseTest, ForgetsThoseAndNoOthers) {
  for (int i = 0; i < 1200; ++i) put(lock_key(16, "v1", std::to_string(i)));
  put(lock_key(16, "v2", "a"));
  const auto use = lock_use(store, kFs, "v1", kDeadlineMs);
  ASSERT_TRUE(use);
  ASSERT_TRUE(forget_locks(store, *use, "c/vnfs/v1", kDeadlineMs));
  EXPECT_EQ(count("v1"), 0u);
  EXPECT_EQ(count("v2"), 1u);
}

TEST_F(LockUseTest, ForgetsNothingOfOneThatWasMadeAgain) {
  put(lock_key(16, "v1", "a"));
  const auto use = lock_use(store, kFs, "v1", kDeadlineMs);
  put("c/vnfs/v1");
  const auto gone = forget_locks(store, *use, "c/vnfs/v1", kDeadlineMs);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kConflict);
  EXPECT_EQ(count("v1"), 1u);
}

}  // namespace
}  // namespace symnas::fs
