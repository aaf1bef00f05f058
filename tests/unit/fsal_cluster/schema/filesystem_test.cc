#include "fsal_cluster/schema/filesystem.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

class FilesystemTest : public testing::Test {
 protected:
  FilesystemTest() {
    put(kv::keys::kVolumes + "v1", "volume");
    put(kv::keys::kVolumes + "v2", "volume");
  }
  void put(const std::string& key, const std::string& value) {
    kv::Txn txn;
    txn.success = {kv::put(key, value)};
    ASSERT_TRUE(kv::txn_blocking(store, txn, 1000));
  }
  Result<records::FilesystemRecord> format(const std::string& name, const std::string& volume) {
    FormatOptions options;
    options.name = name;
    options.volume = volume;
    return format_filesystem(store, env::system_clock(), options);
  }
  std::size_t keys_of(FsId fs) {
    return kv::range_blocking(store, kv::prefix_range(kv::keys::filesystem(fs)), 0, 1000)
        ->kvs.size();
  }
  bool has(const std::string& key) {
    return !kv::range_blocking(store, kv::single_key(key), 1, 1000)->kvs.empty();
  }

  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  kv::MemStore store{kv::MemStoreOptions{.faults = faults}};
};

TEST_F(FilesystemTest, ANewFilesystemHasARootAStampAndACounter) {
  const auto made = format("u04", "v1");
  ASSERT_TRUE(made) << made.error().message;
  const FsId fs{made->fsid()};
  EXPECT_EQ(made->name_hash_key().size(), 16u);
  EXPECT_EQ(made->schema_version(), 1u);
  EXPECT_TRUE(has(kv::keys::inode(fs, kRootIno)));
  EXPECT_TRUE(has(kv::keys::stamp(fs)));
  EXPECT_TRUE(has(kv::keys::next_ino(fs)));
  EXPECT_EQ(keys_of(fs), 3u);
}

TEST_F(FilesystemTest, IdsAndHashKeysDiffer) {
  const auto one = format("u04", "v1");
  const auto two = format("u05", "v2");
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->fsid(), two->fsid());
  EXPECT_NE(one->name_hash_key(), two->name_hash_key());
}

TEST_F(FilesystemTest, Refusals) {
  ASSERT_TRUE(format("u04", "v1"));
  EXPECT_EQ(format("u04", "v2").error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(format("u05", "v1").error().code, ErrorCode::kBusy) << "one volume, one filesystem";
  EXPECT_EQ(format("u05", "v3").error().code, ErrorCode::kNotFound);
}

TEST_F(FilesystemTest, LostRepliesFormatOnce) {
  for (const auto fault : {kv::TxnFault::Kind::kReplyLost, kv::TxnFault::Kind::kRequestLost,
                           kv::TxnFault::Kind::kUnavailable, kv::TxnFault::Kind::kConflict,
                           kv::TxnFault::Kind::kOverQuota}) {
    const auto puts = [](const kv::Txn& txn) { return kv::could_put(txn); };
    faults->push(fault, puts);
    const auto made = format("u04", "v1");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(faults->empty());
    faults->push(fault, puts);
    ASSERT_TRUE(remove_filesystem(store, "u04", {}));
    EXPECT_TRUE(faults->empty());
    EXPECT_EQ(keys_of(FsId{made->fsid()}), 0u);
  }
}

TEST_F(FilesystemTest, AFullStoreIsNoSpaceAtOnce) {
  store.server().set_quota(kv::MemServer::Quota::kFull);
  EXPECT_EQ(format("u04", "v1").error().code, ErrorCode::kNoSpace);
  store.server().set_quota(kv::MemServer::Quota::kFree);
  ASSERT_TRUE(format("u04", "v1"));
  store.server().set_quota(kv::MemServer::Quota::kFull);
  EXPECT_EQ(remove_filesystem(store, "u04", {}).error().code, ErrorCode::kNoSpace);
}

TEST_F(FilesystemTest, RemoveDeletesEverythingInSteps) {
  const FsId fs{format("u04", "v1")->fsid()};
  const FsId other{format("u05", "v2")->fsid()};
  for (std::int64_t i = 0; i < 2 * kRemoveStepKeys; ++i)
    put(kv::keys::inode(fs, Ino{static_cast<std::uint64_t>(100 + i)}), "x");
  ASSERT_TRUE(remove_filesystem(store, "u04", {}));
  EXPECT_EQ(keys_of(fs), 0u);
  EXPECT_FALSE(has(kv::keys::kFilesystems + "u04"));
  EXPECT_EQ(keys_of(other), 3u);
  EXPECT_EQ(remove_filesystem(store, "u04", {}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(format("u04", "v1")) << "the volume is free again";
}

TEST_F(FilesystemTest, RemoveGoesOnWhereItWasInterrupted) {
  const FsId fs{format("u04", "v1")->fsid()};
  const std::string key = kv::keys::kFilesystems + "u04";
  records::FilesystemRecord record;
  record.ParseFromString(kv::range_blocking(store, kv::single_key(key), 1, 1000)->kvs[0].value);
  record.set_removing(true);
  put(key, record.SerializeAsString());
  ASSERT_TRUE(remove_filesystem(store, "u04", {}));
  EXPECT_EQ(keys_of(fs), 0u);
  EXPECT_FALSE(has(key));
}

TEST_F(FilesystemTest, AMountedFilesystemIsNotRemoved) {
  const FsId fs{format("u04", "v1")->fsid()};
  records::MountRecord mount;
  mount.set_head("c1n1");
  mount.set_vnfs("vnfs1");
  put(kv::keys::mount(fs, MountId{1}), mount.SerializeAsString());
  const Status refused = remove_filesystem(store, "u04", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("vnfs1 on head c1n1"), std::string::npos);
  put(kv::keys::mount_ended(fs, MountId{1}), records::EndRecord().SerializeAsString());
  EXPECT_TRUE(remove_filesystem(store, "u04", {}));
}

TEST_F(FilesystemTest, AGuardProtectsAnExportedFilesystem) {
  ASSERT_TRUE(format("u04", "v1"));
  put(kv::keys::kExports + "e", "export");
  const Status refused =
      remove_filesystem(store, "u04", {kv::range_absent(kv::prefix_range(kv::keys::kExports))});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(has(kv::keys::kFilesystems + "u04"));
}

}  // namespace
}  // namespace symnas::fs
