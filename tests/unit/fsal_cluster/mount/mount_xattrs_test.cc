// Extended attributes through mounts: of several at once, and of a filesystem that has none.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "fsal_cluster/mount/mount.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using test::SimDisk;
using test::SimVolume;

constexpr XattrOption kEither = XattrOption::kEither;

class MountXattrsTest : public testing::Test {
 protected:
  std::unique_ptr<Mount> open(std::uint32_t vnfs, std::int64_t quota_bytes = 0) {
    MountOptions options = mount_options(formatted.fs, ++epoch, vnfs);
    options.etcd_quota_bytes = quota_bytes;
    options.on_ended = [](Error) {};
    auto mount =
        Mount::open(*formatted.store, env::system_clock(),
                    std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate), options);
    EXPECT_TRUE(mount) << mount.error().message;
    return mount ? std::move(*mount) : nullptr;
  }
  void allow(bool allowed) {
    const std::string key = kv::keys::kFilesystems + "u04";
    const auto read = kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000);
    records::FilesystemRecord record;
    ASSERT_TRUE(read && record.ParseFromString(read->kvs.front().value));
    record.set_acls_and_xattrs(allowed);
    kv::Txn txn;
    txn.success = {kv::put(key, record.SerializeAsString())};
    ASSERT_TRUE(kv::txn_blocking(*formatted.store, std::move(txn), 1000));
  }
  Handle root() const { return Handle{formatted.fs, kRootIno, Generation{1}}; }
  static Handle create(Mount& mount, const Handle& dir, const std::string& name) {
    const auto made = mount.create(kRoot, dir, name, CreateMode::kGuarded, 0, {});
    EXPECT_TRUE(made);
    return made->attributes.handle;
  }
  static std::string get(Mount& mount, const Handle& file, const std::string& name) {
    return mount.get_xattr(kRoot, file, name).value_or("(none)");
  }

  Formatted formatted;
  std::shared_ptr<SimDisk> disk = std::make_shared<SimDisk>(std::uint64_t{64} << 20, std::byte{0});
  std::uint64_t epoch = 0;
};

TEST_F(MountXattrsTest, WhatOneMountSetsOthersSeeAtOnce) {
  const auto one = open(1);
  const auto two = open(2);
  const Handle file = create(*one, root(), "f");
  for (int i = 0; i < 50; ++i) {
    Mount& setting = i % 2 == 0 ? *one : *two;
    Mount& reading = i % 2 == 0 ? *two : *one;
    const std::string value = std::to_string(i);
    ASSERT_TRUE(setting.set_xattr(kRoot, file, "turn", value, kEither));
    EXPECT_EQ(get(reading, file, "turn"), value);
    ASSERT_TRUE(setting.set_xattr(kRoot, file, "n" + value, "", XattrOption::kCreate));
    EXPECT_EQ(reading.list_xattrs(kRoot, file, 0)->size(), 2u);
    ASSERT_TRUE(reading.remove_xattr(kRoot, file, "n" + value));
    EXPECT_EQ(get(setting, file, "n" + value), "(none)");
    EXPECT_FALSE(setting.remove_xattr(kRoot, file, "n" + value));
  }
}

TEST_F(MountXattrsTest, AFileThatAnotherMountRemovesTakesThemAlong) {
  const auto one = open(1);
  const auto two = open(2);
  const Handle file = create(*one, root(), "f");
  ASSERT_TRUE(one->set_xattr(kRoot, file, "a", "1", kEither));
  ASSERT_TRUE(two->unlink(kRoot, root(), "f"));
  const auto set = one->set_xattr(kRoot, file, "b", "2", kEither);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kStale);
}

TEST_F(MountXattrsTest, AFilesystemOfAnEarlierVersionHasNone) {
  allow(false);
  auto mount = open(1);
  const Handle file = create(*mount, root(), "f");
  EXPECT_FALSE(mount->has_xattrs());
  const auto set = mount->set_xattr(kRoot, file, "a", "1", kEither);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(mount->remove_xattr(kRoot, file, "a").error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(get(*mount, file, "a"), "(none)");
  EXPECT_TRUE(mount->list_xattrs(kRoot, file, 0)->empty());
  ASSERT_TRUE(mount->close());
  allow(true);
  mount = open(1);
  EXPECT_TRUE(mount->has_xattrs());
  EXPECT_TRUE(mount->set_xattr(kRoot, file, "a", "1", kEither));
}

// A mount that was there before they were allowed does not set them, but removes them with the
// file.
TEST_F(MountXattrsTest, AMountThatWasThereBefore) {
  allow(false);
  const auto before = open(1);
  allow(true);
  const auto after = open(2);
  const Handle file = create(*before, root(), "f");
  ASSERT_TRUE(after->set_xattr(kRoot, file, "a", "1", kEither));
  EXPECT_EQ(get(*before, file, "a"), "1");
  ASSERT_TRUE(before->unlink(kRoot, root(), "f"));
  EXPECT_FALSE(before->set_xattr(kRoot, file, "a", "2", kEither));
}

TEST_F(MountXattrsTest, WhenEtcdRunsFullTheyCanBeRemoved) {
  auto mount = open(1);
  const Handle file = create(*mount, root(), "f");
  ASSERT_TRUE(mount->set_xattr(kRoot, file, "a", "as long as another", kEither));
  for (int i = 0; i < 100; ++i)  // so much that the mount's own records do not count
    ASSERT_TRUE(
        mount->set_xattr(kRoot, file, "n" + std::to_string(i), std::string(1000, 'v'), kEither));
  ASSERT_TRUE(mount->close());
  mount.reset();
  const auto bytes = formatted.store->status({}).front().db_in_use_bytes;
  mount = open(1, bytes * 100 / 85);  // reserve: nothing may grow
  // Until the mount has looked at the members.
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "early" + std::to_string(i);
    if (!mount->create(kRoot, root(), name, CreateMode::kGuarded, 0, {})) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto more = mount->set_xattr(kRoot, file, "more", "1", kEither);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(mount->set_xattr(kRoot, file, "a", "shorter", kEither));
  EXPECT_EQ(get(*mount, file, "a"), "shorter");
  EXPECT_TRUE(mount->remove_xattr(kRoot, file, "a"));
}

}  // namespace
}  // namespace symnas::fs
