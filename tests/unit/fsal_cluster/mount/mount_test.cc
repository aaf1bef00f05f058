#include "fsal_cluster/mount/mount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using test::SimDisk;
using test::SimVolume;
using testing::ElementsAre;

class MountTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Mount>> open(std::uint64_t epoch) {
    MountOptions options = mount_options(formatted.fs, epoch);
    options.on_ended = [this](Error error) { ended.push_back(std::move(error)); };
    return Mount::open(*formatted.store, env::system_clock(),
                       std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate), options);
  }
  Status write(Mount& mount, const Handle& file, const std::string& bytes, WriteStability wanted) {
    std::promise<Status> outcome;
    mount.write(file, FileOffset{0}, std::as_bytes(std::span(bytes)), wanted,
                [&](Result<WriteResult> result) {
                  outcome.set_value(result ? Status() : Status(tl::unexpected(result.error())));
                });
    return outcome.get_future().get();
  }
  std::string read(Mount& mount, const Handle& file, std::size_t bytes) {
    std::promise<std::string> outcome;
    mount.read(file, FileOffset{0}, bytes, [&](Result<ReadResult> result) {
      outcome.set_value(result ? std::string(reinterpret_cast<const char*>(result->buffer.data()) +
                                                 result->offset_bytes,
                                             result->bytes)
                               : result.error().message);
    });
    return outcome.get_future().get();
  }
  Handle root() const { return Handle{formatted.fs, kRootIno, Generation{1}}; }
  Handle create(Mount& mount, const std::string& name) {
    return mount.create(kRoot, root(), name, CreateMode::kGuarded, 0, {})->attributes.handle;
  }
  void fence(MountId id) {
    ASSERT_TRUE(end_mount(*formatted.store, env::system_clock(), formatted.fs, id,
                          EndProof{"c1n1", "killed, reaped, OFD locks obtained"}));
  }

  Formatted formatted;
  std::shared_ptr<SimDisk> disk =
      std::make_shared<SimDisk>(std::uint64_t{64} << 20, std::byte{0xEE});
  std::vector<Error> ended;
};

TEST_F(MountTest, WhatOneMountWroteTheNextOneReads) {
  Handle file;
  {
    auto mount = open(1);
    ASSERT_TRUE(mount) << mount.error().message;
    file = create(**mount, "f");
    ASSERT_TRUE(write(**mount, file, "hello", WriteStability::kUnstable));
    EXPECT_EQ((*mount)->getattr(file)->size_bytes, 5u);
    ASSERT_TRUE((*mount)->close());
  }
  EXPECT_TRUE(ended.empty()) << "a clean close is no disproof";
  auto mount = open(2);
  ASSERT_TRUE(mount) << mount.error().message;
  EXPECT_EQ((*mount)->lookup(root(), "f")->handle, file);
  EXPECT_EQ((*mount)->getattr(file)->size_bytes, 5u);
  EXPECT_EQ(read(**mount, file, 100), "hello");
  ASSERT_TRUE((*mount)->close());
}

TEST_F(MountTest, ASecondMountIsRefusedUntilTheFirstHasEnded) {
  auto first = open(1);
  ASSERT_TRUE(first);
  const auto second = open(2);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  ASSERT_TRUE((*first)->close());
  first->reset();
  EXPECT_TRUE(open(3));
}

TEST_F(MountTest, TheNextMountRemovesTheRecordsOfTheEndedOne) {
  MountId first_id;
  {
    auto first = open(1);
    ASSERT_TRUE(first);
    first_id = (*first)->id();
    create(**first, "f");
    ASSERT_TRUE((*first)->close());
  }
  auto second = open(2);
  ASSERT_TRUE(second);
  auto mounts = list_mounts(*formatted.store, formatted.fs);
  while (mounts->size() > 1) {  // beside us
    std::this_thread::yield();
    mounts = list_mounts(*formatted.store, formatted.fs);
  }
  EXPECT_EQ((*mounts)[0].id, (*second)->id());
  const auto slots = kv::range_blocking(
      *formatted.store, kv::prefix_range(kv::keys::mount_slots(formatted.fs, first_id)), 1, 1000);
  EXPECT_TRUE(slots->kvs.empty());
}

TEST_F(MountTest, AStableWriteSurvivesACrash) {
  auto first = open(1);
  ASSERT_TRUE(first);
  const Handle file = create(**first, "f");
  ASSERT_TRUE(write(**first, file, "stable", WriteStability::kFileSync));
  const std::uint64_t change = (*first)->getattr(file)->change;
  const MountId id = (*first)->id();
  first->reset();  // no close: as if killed
  fence(id);
  auto second = open(2);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(read(**second, file, 100), "stable");
  EXPECT_GE((*second)->getattr(file)->change, change);
}

TEST_F(MountTest, AnEndRecordEndsTheProcess) {
  auto mount = open(1);
  ASSERT_TRUE(mount);
  fence((*mount)->id());
  const auto made = (*mount)->mkdir(kRoot, root(), "d", {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kEnded);
  EXPECT_FALSE(ended.empty());
}

TEST_F(MountTest, AnOpenFileWithoutANameIsSweptByTheNextMount) {
  auto first = open(1);
  ASSERT_TRUE(first);
  const Handle file = create(**first, "f");
  (*first)->opened(file);
  ASSERT_TRUE((*first)->unlink(kRoot, root(), "f"));
  EXPECT_EQ((*first)->getattr(file)->nlink, 0u);
  const MountId id = (*first)->id();
  first->reset();
  fence(id);
  auto second = open(2);
  ASSERT_TRUE(second);
  while ((*second)->getattr(file)) std::this_thread::yield();  // the sweep runs beside us
  EXPECT_EQ((*second)->getattr(file).error().code, ErrorCode::kStale);
}

TEST_F(MountTest, TheLastCloseRemovesANamelessFile) {
  auto mount = open(1);
  ASSERT_TRUE(mount);
  const Handle file = create(**mount, "f");
  (*mount)->opened(file);
  ASSERT_TRUE(write(**mount, file, "data", WriteStability::kFileSync));
  ASSERT_TRUE((*mount)->unlink(kRoot, root(), "f"));
  EXPECT_EQ(read(**mount, file, 10), "data");
  (*mount)->closed(file);
  while ((*mount)->getattr(file)) std::this_thread::yield();  // removed in the background
  EXPECT_EQ((*mount)->getattr(file).error().code, ErrorCode::kStale);
}

TEST_F(MountTest, ACorruptFilesystemGivesItsClaimBack) {
  records::FilesystemRecord record;
  const std::string key = kv::keys::kFilesystems + "u04";
  record.ParseFromString(
      kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000)->kvs[0].value);
  record.set_name_hash_key("short");
  kv::Txn txn;
  txn.success = {kv::put(key, record.SerializeAsString())};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, txn, 1000));
  EXPECT_EQ(open(1).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(open(2).error().code, ErrorCode::kCorrupt) << "not kBusy";
}

}  // namespace
}  // namespace symnas::fs
