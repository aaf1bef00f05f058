#include "fsal_cluster/schema/mount_entry.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"

namespace symnas::fs {
namespace {

constexpr FsId kFs{7};

kv::KeyValue kv_of(std::string key, std::string value, std::int64_t create_revision) {
  return kv::KeyValue{std::move(key), std::move(value), Revision{create_revision},
                      Revision{create_revision}, 1};
}

kv::KeyValue mount_of(std::uint64_t id) {
  records::MountRecord record;
  record.set_vnfs("vnfs1");
  record.set_head("c1n1");
  record.set_epoch(17);
  return kv_of(kv::keys::mount(kFs, MountId{id}), record.SerializeAsString(),
               static_cast<std::int64_t>(10 + id));
}

kv::KeyValue end_of(std::uint64_t id) {
  return kv_of(kv::keys::mount_ended(kFs, MountId{id}), records::EndRecord().SerializeAsString(),
               5);
}

TEST(MountEntryTest, EndRecordsBelongToTheirMount) {
  kv::OpResult read;
  read.kvs = {mount_of(1), end_of(1), mount_of(2), end_of(3), mount_of(4)};
  const auto mounts = parse_mounts(kFs, read);
  ASSERT_TRUE(mounts);
  ASSERT_EQ(mounts->size(), 3u) << "an end record without its mount counts for nothing";
  EXPECT_FALSE((*mounts)[0].alive());
  EXPECT_TRUE((*mounts)[1].alive());
  EXPECT_EQ((*mounts)[1].create_revision, Revision{12});
  EXPECT_EQ(first_alive(*mounts)->id, MountId{2});
  EXPECT_EQ(describe((*mounts)[1]), "vnfs1 on head c1n1 (mount 2, epoch 17)");
}

TEST(MountEntryTest, NobodyAlive) {
  kv::OpResult read;
  read.kvs = {mount_of(1), end_of(1)};
  EXPECT_EQ(first_alive(*parse_mounts(kFs, read)), nullptr);
  EXPECT_EQ(first_alive({}), nullptr);
}

TEST(MountEntryTest, AListThatWasCutIsRefused) {
  kv::OpResult read;
  read.kvs = {mount_of(1), end_of(1)};
  read.more = true;  // the next one may be alive
  EXPECT_EQ(parse_mounts(kFs, read).error().code, ErrorCode::kInternal);
}

TEST(MountEntryTest, BrokenKeysAndRecordsAreCorrupt) {
  kv::OpResult short_key;
  short_key.kvs = {kv_of(kv::keys::mounts(kFs) + "x", "", 1)};
  EXPECT_EQ(parse_mounts(kFs, short_key).error().code, ErrorCode::kCorrupt);
  kv::OpResult bad_record;
  bad_record.kvs = {kv_of(kv::keys::mount(kFs, MountId{1}), "\xff", 1)};
  EXPECT_EQ(parse_mounts(kFs, bad_record).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace symnas::fs
