// Quotas through mounts: usage is exactly what the inode records say, whatever happens; limits are
// held by one mount exactly and by several within their windows.
#include "tests/unit/fsal_cluster/mount/mount_usage_world.h"

namespace symnas::fs {
namespace {

TEST_F(MountUsageTest, NothingIsCountedUntilItIsSwitchedOn) {
  first = open(1);
  open_root();
  const auto file = create(*first, ann, root(), "a");
  ASSERT_TRUE(file);
  ASSERT_TRUE(write(*first, *file, 0, 8192, WriteStability::kFileSync));
  const auto keys = kv::range_blocking(
      *formatted.store, kv::prefix_range(kv::keys::quota_table(formatted.fs)), 0, 1000);
  EXPECT_TRUE(keys->kvs.empty());
}

TEST_F(MountUsageTest, WhatWasThereBeforeIsCountedByTheScan) {
  first = open(1);
  open_root();
  const auto file = create(*first, ann, root(), "a");
  ASSERT_TRUE(file);
  ASSERT_TRUE(write(*first, *file, 0, 8192, WriteStability::kFileSync));
  ASSERT_TRUE(first->mkdir(ann, root(), "d", {}));
  const auto before = first->lookup(root(), "d");
  turn_on();
  expect_exact();
  EXPECT_EQ(used(of_ann), (Usage{2, 2}));
  EXPECT_EQ(used({SubjectKind::kGroup, 2001}), (Usage{2, 2}));
  EXPECT_EQ(used({SubjectKind::kFilesystem, 0}), (Usage{2, 3}));
  // Being counted is no change that a client sees.
  EXPECT_EQ(first->lookup(root(), "d")->change, before->change);
  EXPECT_EQ(first->lookup(root(), "d")->ctime_ns, before->ctime_ns);
}

TEST_F(MountUsageTest, EachChangeIsCounted) {
  first = open(1);
  open_root();
  turn_on();
  const auto file = create(*first, ann, root(), "a");
  ASSERT_TRUE(file);
  ASSERT_TRUE(write(*first, *file, 0, kMiB, WriteStability::kFileSync));
  EXPECT_EQ(used(of_ann), (Usage{256, 1}));
  SetAttributes size;
  size.size_bytes = 8192;
  ASSERT_TRUE(first->setattr(ann, *file, size));
  EXPECT_EQ(used(of_ann), (Usage{2, 1}));
  SetAttributes owner;
  owner.uid = 1002;
  ASSERT_TRUE(first->setattr(kRoot, *file, owner));
  EXPECT_EQ(used(of_ann), Usage{});
  EXPECT_EQ(used(of_bob), (Usage{2, 1}));
  ASSERT_TRUE(first->allocate(*file, FileOffset{0}, kMiB));
  EXPECT_EQ(used(of_bob), (Usage{256, 1}));
  ASSERT_TRUE(first->deallocate(*file, FileOffset{0}, kMiB / 2));
  EXPECT_EQ(used(of_bob), (Usage{128, 1}));
  ASSERT_TRUE(first->link(bob, *file, root(), "b"));
  ASSERT_TRUE(first->rename(bob, root(), "b", root(), "c"));
  EXPECT_EQ(used(of_bob), (Usage{128, 1}));
  ASSERT_TRUE(first->unlink(bob, root(), "a"));
  ASSERT_TRUE(first->unlink(bob, root(), "c"));
  EXPECT_EQ(used(of_bob), Usage{});
  ASSERT_TRUE(first->mkdir(ann, root(), "d", {}));
  ASSERT_TRUE(first->symlink(ann, root(), "e", NewNode{.symlink_target = "a"}));
  EXPECT_EQ(used(of_ann), (Usage{0, 2}));
  ASSERT_TRUE(first->rmdir(ann, root(), "d"));
  EXPECT_EQ(used(of_ann), (Usage{0, 1}));
  expect_exact();
}

TEST_F(MountUsageTest, AFileThatIsOpenCountsUntilItsLastClose) {
  first = open(1);
  open_root();
  turn_on();
  const auto file = create(*first, ann, root(), "a");
  ASSERT_TRUE(file);
  ASSERT_TRUE(write(*first, *file, 0, 8192, WriteStability::kFileSync));
  first->opened(*file);
  ASSERT_TRUE(first->unlink(ann, root(), "a"));
  EXPECT_EQ(used(of_ann), (Usage{2, 1}));
  first->closed(*file);
  EXPECT_TRUE(eventually([&] { return used(of_ann) == Usage{}; }));
}

TEST_F(MountUsageTest, OneMountHoldsAByteLimitToTheBlock) {
  first = open(1);
  open_root();
  turn_on();
  limit(of_ann, {.bytes_hard = 4 * kMiB});
  const auto file = create(*first, ann, root(), "a");
  ASSERT_TRUE(file);
  Status status;
  std::uint64_t written = 0;
  for (; status && written < 8 * kMiB; written += 64 * 1024)
    status = write(*first, *file, written, 64 * 1024);
  EXPECT_EQ(code(status), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(written, 4 * kMiB + 64 * 1024);
  ASSERT_TRUE(commit(*first, *file));
  EXPECT_EQ(used(of_ann).blocks, 1024);
  EXPECT_EQ(first->getattr(*file)->size_bytes, 4 * kMiB);
  // In place it goes on, another user is not concerned, root neither.
  EXPECT_TRUE(write(*first, *file, 0, 64 * 1024));
  const auto other = create(*first, bob, root(), "b");
  ASSERT_TRUE(other);
  EXPECT_TRUE(write(*first, *other, 0, kMiB));
  {
    const QuotaExemption root_writes(Quotas::Exempt::kYes);
    EXPECT_TRUE(write(*first, *file, 4 * kMiB, 4096));
  }
  EXPECT_EQ(code(first->allocate(*file, FileOffset{8 * kMiB}, 4096)), ErrorCode::kQuotaExceeded);
  ASSERT_TRUE(first->unlink(ann, root(), "a"));
  const auto next = create(*first, ann, root(), "c");
  ASSERT_TRUE(next);
  EXPECT_TRUE(write(*first, *next, 0, kMiB));
  ASSERT_TRUE(commit(*first, *next));
  expect_exact();
}

TEST_F(MountUsageTest, AllocateTakesAllOrNothing) {
  first = open(1);
  open_root();
  turn_on();
  limit(of_ann, {.bytes_hard = 40 * kMiB});
  const auto file = create(*first, ann, root(), "a");
  ASSERT_TRUE(file);
  EXPECT_EQ(code(first->allocate(*file, FileOffset{0}, 41 * kMiB)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(used(of_ann), (Usage{0, 1}));
  EXPECT_EQ(first->getattr(*file)->size_bytes, 0U);
  EXPECT_TRUE(first->allocate(*file, FileOffset{0}, 40 * kMiB));
  EXPECT_EQ(used(of_ann).blocks, 10'240);
  // What is allocated may be written.
  EXPECT_TRUE(write(*first, *file, 20 * kMiB, kMiB, WriteStability::kFileSync));
  EXPECT_EQ(code(write(*first, *file, 40 * kMiB, 4096)), ErrorCode::kQuotaExceeded);
  expect_exact();
}

TEST_F(MountUsageTest, InodesAreLimitedToo) {
  first = open(1);
  open_root();
  turn_on();
  limit(of_ann, {.inodes_hard = 3});
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(create(*first, ann, root(), name));
  EXPECT_EQ(code(create(*first, ann, root(), "d")), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(code(first->mkdir(ann, root(), "d", {})), ErrorCode::kQuotaExceeded);
  EXPECT_TRUE(create(*first, bob, root(), "d"));
  // A file given to ann by root passes; by chgrp a group's limit holds for others.
  ASSERT_TRUE(first->unlink(ann, root(), "a"));
  EXPECT_TRUE(create(*first, ann, root(), "e"));
  expect_exact();
}

// What ann was acknowledged and nobody has recorded yet becomes bob's, too.
TEST_F(MountUsageTest, AFileIsGivenAwayWithWhatIsNotRecorded) {
  first = open(1);
  open_root();
  turn_on();
  limit({SubjectKind::kGroup, 2002}, {.bytes_hard = kMiB});
  const auto file = create(*first, ann, root(), "a");
  ASSERT_TRUE(file);
  ASSERT_TRUE(write(*first, *file, 0, 2 * kMiB));
  SetAttributes group;
  group.gid = 2002;
  const Credentials member{1001, 2001, {2002}};
  EXPECT_EQ(code(first->setattr(member, *file, group)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(first->getattr(*file)->gid, 2001U);
}

TEST_F(MountUsageTest, AChangeOfLimitsMayBeTried) {
  first = open(1);
  const auto set = [&](LimitEdit edit, Doing doing) {
    return set_limit(*formatted.store, formatted.fs, of_ann, edit, doing);
  };
  EXPECT_EQ(code(set({.bytes_hard = kMiB}, Doing::kCheck)), ErrorCode::kInvalidArgument);
  turn_on();
  EXPECT_EQ(code(set({.bytes_hard = 1, .bytes_soft = 2}, Doing::kCheck)),
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(set({.bytes_hard = kMiB}, Doing::kCheck));
  EXPECT_FALSE(report().rows[of_ann].limit);
  const auto remove = [&](Doing doing) {
    return remove_limit(*formatted.store, formatted.fs, of_ann, doing);
  };
  EXPECT_EQ(code(remove(Doing::kCheck)), ErrorCode::kNotFound);
  EXPECT_TRUE(set({.bytes_hard = kMiB}, Doing::kChange));
  EXPECT_TRUE(remove(Doing::kCheck));
  EXPECT_TRUE(report().rows[of_ann].limit);
}

TEST_F(MountUsageTest, ASoftLimitHoldsWhenItsGraceIsOver) {
  first = open(1);
  open_root();
  turn_on();
  limit(of_ann, {.inodes_soft = 1, .inodes_grace_s = 100});
  EXPECT_TRUE(create(*first, ann, root(), "a"));
  EXPECT_TRUE(create(*first, ann, root(), "b"));
  ASSERT_TRUE(eventually([&] { return report().rows[of_ann].grace.inodes_since_ns() != 0; }));
  EXPECT_TRUE(create(*first, ann, root(), "c"));
  clock.jump_ns(std::int64_t{101} * 1'000'000'000);
  EXPECT_EQ(code(create(*first, ann, root(), "d")), ErrorCode::kQuotaExceeded);
  ASSERT_TRUE(first->unlink(ann, root(), "c"));
  ASSERT_TRUE(first->unlink(ann, root(), "b"));
  ASSERT_TRUE(eventually([&] { return report().rows[of_ann].grace.inodes_since_ns() == 0; }));
  EXPECT_TRUE(create(*first, ann, root(), "d"));
}

TEST_F(MountUsageTest, TheLimitOfEachUserIsHeldForEveryOneOfThem) {
  first = open(1);
  open_root();
  turn_on();
  const Subject each{SubjectKind::kEachUser, 0};
  limit(each, {.inodes_hard = 4, .inodes_soft = 1, .inodes_grace_s = 60});
  limit(of_bob, {.inodes_hard = 2});
  for (int n = 0; n < 4; ++n)
    EXPECT_TRUE(create(*first, ann, root(), "a" + std::to_string(n))) << n;
  EXPECT_EQ(code(create(*first, ann, root(), "a4")), ErrorCode::kQuotaExceeded);
  EXPECT_TRUE(create(*first, bob, root(), "b0"));
  EXPECT_TRUE(create(*first, bob, root(), "b1"));
  EXPECT_EQ(code(create(*first, bob, root(), "b2")), ErrorCode::kQuotaExceeded);
  ASSERT_TRUE(eventually([&] { return report().rows[of_ann].grace.inodes_since_ns() != 0; }));
  const auto row = report().rows[of_ann];
  EXPECT_TRUE(row.by_each);
  EXPECT_EQ(row.limit->inodes_hard(), 4U);
  EXPECT_FALSE(report().rows[of_bob].by_each);
  EXPECT_TRUE(report().rows.contains(each));
  ASSERT_TRUE(first->unlink(ann, root(), "a3"));
  clock.jump_ns(std::int64_t{61} * 1'000'000'000);
  EXPECT_EQ(code(create(*first, ann, root(), "a3")), ErrorCode::kQuotaExceeded);
  // The limit ends, another one begins with a whole grace.
  ASSERT_TRUE(remove_limit(*formatted.store, formatted.fs, each));
  ASSERT_TRUE(eventually([&] { return create(*first, ann, root(), "free").has_value(); }));
  limit(each, {.inodes_hard = 9, .inodes_soft = 1, .inodes_grace_s = 60});
  EXPECT_TRUE(create(*first, ann, root(), "a3"));
}

TEST_F(MountUsageTest, SeveralMountsPassALimitByTheirWindowsAtMost) {
  first = open(1);
  open_root();
  const auto second = open(2);
  const auto third = open(3);
  ASSERT_TRUE(second && third);
  turn_on();
  limit(of_ann, {.bytes_hard = 24 * kMiB});
  const std::int64_t window = window_of(*report().rows[of_ann].limit, 4096).blocks;
  EXPECT_EQ(window, 256);
  std::atomic<int> refused{0};
  const auto run = [&](Mount& mount, const std::string& name) {
    const auto file = create(mount, ann, root(), name);
    ASSERT_TRUE(file);
    for (std::uint64_t at = 0; at < 40 * kMiB; at += 256 * 1024) {
      const Status status = write(mount, *file, at, 256 * 1024);
      if (status) continue;
      EXPECT_EQ(code(status), ErrorCode::kQuotaExceeded) << status.error().message;
      ++refused;
      break;
    }
    EXPECT_TRUE(commit(mount, *file));
  };
  std::thread a([&] { run(*first, "a"); });
  std::thread b([&] { run(*second, "b"); });
  std::thread c([&] { run(*third, "c"); });
  a.join();
  b.join();
  c.join();
  EXPECT_EQ(refused, 3);
  const std::int64_t over = used(of_ann).blocks - 24 * 256;
  EXPECT_LE(over, 2 * window);
  EXPECT_GE(over, -64);
  expect_exact();
}

TEST_F(MountUsageTest, WhatACrashedMountHasCountedStays) {
  first = open(1);
  open_root();
  turn_on();
  MountId ended;
  {
    auto second = open(2);
    ASSERT_TRUE(second);
    ended = second->id();
    const auto file = create(*second, ann, root(), "a");
    ASSERT_TRUE(file);
    ASSERT_TRUE(write(*second, *file, 0, kMiB, WriteStability::kFileSync));
    ASSERT_TRUE(end_mount(*formatted.store, clock, formatted.fs, ended,
                          EndProof{"c1n9", "killed, reaped, OFD locks obtained"}));
  }
  expect_exact();
  EXPECT_EQ(used(of_ann), (Usage{256, 1}));
  // Its slots are folded into the bases.
  const std::uint32_t counted = report().mode.epoch();
  const std::string slot = kv::keys::usage_slot(formatted.fs, counted, ended, 0);
  EXPECT_TRUE(eventually([&] {
    clock.jump_ns(1'000'000'000);
    return kv::range_blocking(*formatted.store, kv::single_key(slot), 1, 1000)->kvs.empty();
  }));
  expect_exact();
  EXPECT_EQ(used(of_ann), (Usage{256, 1}));
}

TEST_F(MountUsageTest, ManyUsersAreFoldedAndStayExact) {
  first = open(1);
  open_root();
  turn_on();
  for (std::uint32_t uid = 3000; uid < 3100; ++uid) {
    const Credentials who{uid, uid, {}};
    EXPECT_TRUE(create(*first, who, root(), "f" + std::to_string(uid)));
  }
  EXPECT_TRUE(eventually([&] {
    const auto bases = kv::range_blocking(
        *formatted.store, kv::prefix_range(kv::keys::usage_bases(formatted.fs)), 0, 1000);
    return bases->kvs.size() > 150;
  }));
  expect_exact();
  EXPECT_EQ(used({SubjectKind::kUser, 3050}), (Usage{0, 1}));
}

TEST_F(MountUsageTest, SwitchedOffAndOnAgainItCountsAnew) {
  first = open(1);
  open_root();
  turn_on();
  EXPECT_TRUE(create(*first, ann, root(), "a"));
  ASSERT_TRUE(switch_quotas(*formatted.store, formatted.fs, QuotaSwitch::kOff));
  EXPECT_TRUE(create(*first, ann, root(), "b"));
  ASSERT_TRUE(first->unlink(ann, root(), "a"));
  turn_on();
  expect_exact();
  EXPECT_EQ(used(of_ann), (Usage{0, 1}));
}

TEST_F(MountUsageTest, CountingBeginsWhileClientsWork) {
  first = open(1);
  open_root();
  const auto second = open(2);
  ASSERT_TRUE(second);
  std::atomic<bool> stop{false};
  const auto work = [&](Mount& mount, const std::string& name) {
    for (int i = 0; !stop; ++i) {
      const std::string file = name + std::to_string(i % 16);
      const auto made = create(mount, ann, root(), file);
      if (made) {
        const Status written = write(mount, *made, 0, 8192, WriteStability::kFileSync);
        // Freed space comes back when every mount has quiesced.
        if (!written) {
          EXPECT_EQ(code(written), ErrorCode::kNoSpace) << written.error().message;
        }
      } else {
        EXPECT_TRUE(mount.unlink(ann, root(), file));
      }
    }
  };
  std::thread a([&] { work(*first, "a"); });
  std::thread b([&] { work(*second, "b"); });
  turn_on();
  stop = true;
  a.join();
  b.join();
  expect_exact();
  EXPECT_TRUE(eventually([&] {
    const auto all = kv::range_blocking(
        *formatted.store, kv::prefix_range(kv::keys::table(formatted.fs, 'w', 'I')), 0, 1000);
    return used({SubjectKind::kFilesystem, 0}).inodes == static_cast<std::int64_t>(all->kvs.size());
  }));
}

}  // namespace
}  // namespace symnas::fs
