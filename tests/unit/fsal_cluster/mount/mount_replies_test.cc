// The next instance answers a call that a crashed instance has carried out: each kind of operation.
#include <gtest/gtest.h>

#include <functional>

#include "common/base/check.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/reply/call.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using test::SimDisk;
using test::SimVolume;

Call call(std::uint32_t xid) {
  return {.client = std::string(16, 'c'), .xid = xid, .checksum = 5, .operation = 0};
}

class MountRepliesTest : public testing::Test {
 protected:
  MountRepliesTest() { begin(); }
  // A mount that goes on living, as a killed instance's mount does until its end record is written.
  void begin() {
    MountOptions options = mount_options(formatted.fs, ++epoch);
    options.on_ended = [](Error) {};
    auto opened = Mount::open(*formatted.store, env::system_clock(),
                              std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate),
                              std::move(options));
    CHECK(opened.has_value(), opened ? "" : opened.error().message);
    mount = std::move(*opened);
  }
  void crash() {
    ASSERT_TRUE(end_mount(*formatted.store, env::system_clock(), formatted.fs, mount->id(),
                          EndProof{"c1n1", "killed, reaped, OFD locks obtained"}));
    begin();
  }
  std::optional<Handle> done(std::uint32_t xid) {
    const auto known = mount->done_before(call(xid));
    EXPECT_TRUE(known) << known.error().message;
    return known.value_or(std::nullopt);
  }
  template <class Operation>
  auto for_call(std::uint32_t xid, Operation operation) {
    const CallScope scope(call(xid));
    auto result = operation();
    EXPECT_TRUE(result) << result.error().message;
    return result;
  }
  Handle create(const std::string& name) {
    return mount->create(kRoot, root, name, CreateMode::kGuarded, 0, {})->attributes.handle;
  }
  Result<Attributes> set(const Handle& handle, const SetAttributes& changes) {
    return mount->setattr(kRoot, handle, changes);
  }

  Formatted formatted;
  std::shared_ptr<SimDisk> disk =
      std::make_shared<SimDisk>(std::uint64_t{64} << 20, std::byte{0xEE});
  std::uint64_t epoch = 0;
  std::unique_ptr<Mount> mount;
  const Handle root{formatted.fs, kRootIno, Generation{1}};
};

TEST_F(MountRepliesTest, ObjectsThatWereMade) {
  const Handle made[] = {
      for_call(1, [&] { return mount->mkdir(kRoot, root, "d", {}); })->attributes.handle,
      for_call(2, [&] { return mount->create(kRoot, root, "f", CreateMode::kGuarded, 0, {}); })
          ->attributes.handle,
      for_call(3, [&] { return mount->create(kRoot, root, "u", CreateMode::kUnchecked, 0, {}); })
          ->attributes.handle,
      for_call(4,
               [&] {
                 NewNode node;
                 node.symlink_target = "there";
                 return mount->symlink(kRoot, root, "s", node);
               })
          ->attributes.handle,
      for_call(5, [&] {
        NewNode node;
        node.type = FileType::kFifo;
        return mount->mknod(kRoot, root, "p", node);
      })->attributes.handle};
  crash();
  for (std::uint32_t xid = 1; xid <= std::size(made); ++xid) EXPECT_EQ(done(xid), made[xid - 1]);
  EXPECT_FALSE(done(9)) << "a crash before the commit: nothing was done, it will be";
}

TEST_F(MountRepliesTest, NamesThatWereChanged) {
  const Handle file = create("f");
  create("old");
  ASSERT_TRUE(mount->mkdir(kRoot, root, "d", {}));
  for_call(1, [&] { return mount->link(kRoot, file, root, "second"); });
  for_call(2, [&] { return mount->rename(kRoot, root, "f", root, "old"); });
  for_call(3, [&] { return mount->unlink(kRoot, root, "second"); });
  for_call(4, [&] { return mount->rmdir(kRoot, root, "d"); });
  crash();
  for (std::uint32_t xid = 1; xid <= 4; ++xid) EXPECT_TRUE(done(xid)) << xid;
}

TEST_F(MountRepliesTest, AttributesThatWereSet) {
  const Handle file = create("f");
  SetAttributes mode, size, time, all;
  mode.mode = all.mode = 0640;
  size.size_bytes = all.size_bytes = 12345;
  time.mtime_ns = all.mtime_ns = 17;
  for_call(1, [&] { return set(file, mode); });
  for_call(2, [&] { return set(file, size); });
  for_call(3, [&] { return set(file, time); });
  for_call(4, [&] { return set(file, all); });
  for_call(5, [&] { return set(root, mode); });
  crash();
  for (std::uint32_t xid = 1; xid <= 4; ++xid) EXPECT_EQ(done(xid), file) << xid;
  EXPECT_EQ(done(5), root);
}

TEST_F(MountRepliesTest, WhatAnotherClientHasDoneSinceStays) {
  create("f");
  for_call(1, [&] { return mount->unlink(kRoot, root, "f"); });
  const Handle made =
      for_call(2, [&] { return mount->mkdir(kRoot, root, "d", {}); })->attributes.handle;
  crash();
  const Handle again = create("f");
  ASSERT_TRUE(mount->rmdir(kRoot, root, "d"));
  EXPECT_TRUE(done(1)) << "its REMOVE came before that file";
  EXPECT_EQ(mount->lookup(root, "f")->handle, again);
  EXPECT_EQ(done(2), made) << "and is gone: its handle is stale, nothing is made anew";
  EXPECT_EQ(mount->lookup(root, "d").error().code, ErrorCode::kNotFound);
}

TEST_F(MountRepliesTest, TheAnswerOutlivesTheAnswer) {
  for_call(1, [&] { return mount->mkdir(kRoot, root, "d", {}); });
  crash();
  EXPECT_TRUE(done(1));
  EXPECT_TRUE(done(1)) << "the second answer may get lost as the first one";
  crash();
  EXPECT_TRUE(done(1));
}

TEST_F(MountRepliesTest, ACleanCloseIsNoReasonToForget) {
  for_call(1, [&] { return mount->mkdir(kRoot, root, "d", {}); });
  ASSERT_TRUE(mount->close());
  begin();
  EXPECT_TRUE(done(1)) << "a move does not wait for clients that acknowledge nothing";
}

}  // namespace
}  // namespace symnas::fs
