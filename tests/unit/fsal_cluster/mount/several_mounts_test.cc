// Mounts of several VNFSs of one filesystem at the same time: which may join, what each sees of the
// others, what living mounts do for those that have ended.
#include <gtest/gtest.h>

#include <future>
#include <span>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/ops/request.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/state/mount_end.h"
#include "fsal_cluster/types/limits.h"
#include "tests/support/jumping_clock.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using test::JumpingClock;
using test::SimDisk;
using test::SimVolume;

class SeveralMountsTest : public testing::Test {
 protected:
  std::unique_ptr<Mount> open(std::uint32_t vnfs) {
    MountOptions options = mount_options(formatted.fs, ++epoch, vnfs);
    // The watch and the heartbeat may both find the disproof.
    options.on_ended = [this, told = std::make_shared<std::atomic<bool>>(false)](Error) {
      if (!told->exchange(true)) ++disproofs;
    };
    auto mount =
        Mount::open(*formatted.store, clock,
                    std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate), options);
    EXPECT_TRUE(mount) << mount.error().message;
    return mount ? std::move(*mount) : nullptr;
  }
  void fence(MountId id) {
    ASSERT_TRUE(end_mount(*formatted.store, clock, formatted.fs, id,
                          EndProof{"c1n9", "killed, reaped, OFD locks obtained"}));
  }
  static bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  std::string value(const std::string& key) {
    const auto read = kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000);
    return read->kvs.empty() ? "" : read->kvs[0].value;
  }
  // 0: the key does not exist.
  std::int64_t revision(const std::string& key) {
    const auto read = kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000);
    return read->kvs.empty() ? 0 : read->kvs[0].mod_revision.value();
  }
  std::int64_t looked(Mount& mount) {
    records::HeartbeatRecord heartbeat;
    heartbeat.ParseFromString(value(kv::keys::heartbeat(formatted.fs, mount.id())));
    return static_cast<std::int64_t>(heartbeat.looked());
  }
  // Lets time pass until the mount has noticed that it has been alone long enough.
  void become_sole(Mount& mount) {
    const auto is_sole = [&] {
      return value(kv::keys::solo(formatted.fs)) == std::to_string(mount.id().value());
    };
    for (int i = 0; i < 100 && !is_sole(); ++i) {
      clock.jump_ns(kSoloAfterNs);
      for (int look = 0; look < 50 && !is_sole(); ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(is_sole());
  }
  std::size_t mount_records() { return list_mounts(*formatted.store, formatted.fs)->size(); }
  Handle root() const { return Handle{formatted.fs, kRootIno, Generation{1}}; }
  Handle create(Mount& mount, const std::string& name) {
    const auto made = mount.create(kRoot, root(), name, CreateMode::kGuarded, 0, {});
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->attributes.handle : Handle{};
  }
  static Status write(Mount& mount, const Handle& file, std::uint64_t at, const std::string& data) {
    std::promise<Status> answer;
    mount.write(file, FileOffset{at}, std::as_bytes(std::span(data)), WriteStability::kFileSync,
                [&](Result<WriteResult> result) {
                  answer.set_value(result ? Status() : tl::unexpected(result.error()));
                });
    return answer.get_future().get();
  }
  static Status fill(Mount& mount, const Handle& file, std::uint64_t mib) {
    const std::string data(std::size_t{1} << 20, 'x');
    for (std::uint64_t i = 0; i < mib; ++i) SYMNAS_TRY(write(mount, file, i << 20, data));
    return {};
  }
  static ErrorCode code(const Result<Attributes>& result) {
    return result ? ErrorCode::kInternal : result.error().code;
  }

  Formatted formatted;
  JumpingClock clock;
  std::uint64_t epoch = 0;
  std::atomic<int> disproofs{0};
  std::shared_ptr<SimDisk> disk =
      std::make_shared<SimDisk>(std::uint64_t{64} << 20, std::byte{0xEE});
};

TEST_F(SeveralMountsTest, ASecondOneJoinsWhileTheFirstIsBusy) {
  const auto first = open(1);
  ASSERT_TRUE(first);
  EXPECT_EQ(value(kv::keys::solo(formatted.fs)), std::to_string(first->id().value()));
  std::atomic<bool> stop{false};
  std::atomic<int> made{0};
  std::thread busy([&] {
    while (!stop) create(*first, "f" + std::to_string(made++));
  });
  const auto second = open(2);
  ASSERT_TRUE(second);
  EXPECT_EQ(value(kv::keys::solo(formatted.fs)), "");
  EXPECT_EQ(value(kv::keys::want_solo(formatted.fs)), "");
  const int then = made;
  EXPECT_TRUE(eventually([&] { return made > then + 3; })) << "and goes on";
  stop = true;
  busy.join();
  for (int i = 0; i < made; ++i) EXPECT_TRUE(second->lookup(root(), "f" + std::to_string(i))) << i;
  const auto third = open(3);
  EXPECT_TRUE(third);
}

TEST_F(SeveralMountsTest, EachSeesAtOnceWhatTheOthersHaveChanged) {
  const auto a = open(1);
  const auto b = open(2);
  ASSERT_TRUE(a && b);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    EXPECT_EQ(code(b->lookup(root(), name)), ErrorCode::kNotFound);
    const Handle file = create(*a, name);
    EXPECT_EQ(b->lookup(root(), name)->handle, file) << "no old negative answer";
    SetAttributes mode;
    mode.mode = 0600 + i % 8;
    ASSERT_TRUE(b->setattr(kRoot, file, mode));
    EXPECT_EQ(a->getattr(file)->mode, *mode.mode);
    ASSERT_TRUE(a->rename(kRoot, root(), name, root(), "moved"));
    EXPECT_EQ(code(b->lookup(root(), name)), ErrorCode::kNotFound);
    EXPECT_EQ(b->create(kRoot, root(), "moved", CreateMode::kGuarded, 0, {}).error().code,
              ErrorCode::kAlreadyExists);
    ASSERT_TRUE(b->unlink(kRoot, root(), "moved"));
    EXPECT_EQ(code(a->lookup(root(), "moved")), ErrorCode::kNotFound);
    const auto again = a->create(kRoot, root(), "moved", CreateMode::kUnchecked, 0, {});
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->existed) << "no positive answer from an old cache";
    ASSERT_TRUE(b->unlink(kRoot, root(), "moved"));
  }
}

TEST_F(SeveralMountsTest, TheNextMountOfAVnfsFetchesWhatTheLastOneHadInUse) {
  const auto other = open(2);
  auto moving = open(1);
  const Handle file = create(*moving, "f");
  ASSERT_TRUE(write(*moving, file, 0, "bytes"));
  ASSERT_TRUE(write(*moving, file, 0, "again")) << "in place: it keeps the token";
  ASSERT_TRUE(moving->close());
  moving.reset();
  const auto next = open(1);
  const std::string token = kv::keys::token(formatted.fs, file.ino, next->id());
  EXPECT_TRUE(eventually([&] { return !value(token).empty(); }));
  EXPECT_TRUE(write(*next, file, 0, "other"));
}

// A sole mount does not look at other mounts' tokens: a later recovery of one would undo its
// SETATTRs.
TEST_F(SeveralMountsTest, ATokenThatAClosedMountHasLeftIsTakenOverBeforeAnybodyIsServed) {
  auto closing = open(1);
  const Handle file = create(*closing, "f");
  ASSERT_TRUE(closing->close());
  records::TokenRecord left;
  left.set_mode(records::TokenRecord::X);
  left.set_wrote(true);
  const std::string key = kv::keys::token(formatted.fs, file.ino, closing->id());
  kv::Txn txn;
  txn.success = {kv::put(key, left.SerializeAsString())};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, txn, 5000));
  closing.reset();
  const auto next = open(1);
  EXPECT_EQ(value(key), "");
  SetAttributes changes;
  changes.mtime_ns = 77;
  ASSERT_TRUE(next->setattr(kRoot, file, changes));
  EXPECT_TRUE(eventually([&] { return mount_records() == 1; }));
  EXPECT_EQ(next->getattr(file)->mtime_ns, 77);
}

TEST_F(SeveralMountsTest, NoPreAttributesBesideOthers) {
  const auto a = open(1);
  EXPECT_TRUE(a->create(kRoot, root(), "sole", CreateMode::kGuarded, 0, {})->directory.pre);
  const auto b = open(2);
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(a->create(kRoot, root(), "f", CreateMode::kGuarded, 0, {})->directory.pre);
  EXPECT_FALSE(a->getattr_from_cache(root(), Freshness::kStrict)) << "needs a barrier";
}

// For attributes in READ and WRITE replies: no etcd on their way, and no answer that an inode is
// absent, because that may be over.
TEST_F(SeveralMountsTest, AppliedAttributesNeedNoBarrier) {
  const auto a = open(1);
  const auto b = open(2);
  ASSERT_TRUE(a && b);
  const Handle file = create(*a, "f");
  ASSERT_TRUE(b->getattr(file));
  const auto before = b->counters();
  const auto known = b->getattr_from_cache(file, Freshness::kApplied);
  ASSERT_TRUE(known && *known);
  EXPECT_EQ((*known)->handle, file);
  EXPECT_EQ(b->counters().barriers, before.barriers);
  ASSERT_TRUE(a->unlink(kRoot, root(), "f"));
  EXPECT_TRUE(eventually([&] { return code(b->getattr(file)) == ErrorCode::kStale; }));
  EXPECT_FALSE(b->getattr_from_cache(file, Freshness::kApplied)) << "told strictly only";
}

// GETATTRs of one RPC: its first barrier shows everything that was acknowledged before it arrived.
TEST_F(SeveralMountsTest, ARequestTakesOneBarrier) {
  const auto a = open(1);
  const auto b = open(2);
  ASSERT_TRUE(a && b);
  const Handle dir = a->mkdir(kRoot, root(), "d", {})->attributes.handle;
  const auto barriers = [&] { return b->counters().barriers; };
  const int requests[2] = {};
  work_for({&requests[0], 1});
  ASSERT_TRUE(b->lookup(root(), "d"));
  auto before = barriers();
  ASSERT_TRUE(b->getattr(dir));
  EXPECT_EQ(barriers(), before);
  for (const RequestId next : {RequestId{&requests[0], 2}, RequestId{&requests[1], 2}}) {
    SetAttributes mode;
    mode.mode = 0700 + static_cast<std::uint32_t>(before % 8);
    ASSERT_TRUE(a->setattr(kRoot, dir, mode));
    work_for(next);
    before = barriers();
    EXPECT_EQ(b->getattr(dir)->mode, *mode.mode);
    EXPECT_GT(barriers(), before);
  }
  work_for({});
  for (int i = 0; i < 2; ++i) {
    before = barriers();
    ASSERT_TRUE(b->getattr(dir));
    EXPECT_GT(barriers(), before) << "outside of a request nothing is remembered";
  }
}

// Directories moved below one another through two mounts must not make a circle.
TEST_F(SeveralMountsTest, CrossingDirectoryMovesMakeNoCircle) {
  const auto a = open(1);
  const auto b = open(2);
  ASSERT_TRUE(a && b);
  for (int i = 0; i < 10; ++i) {
    const std::string x = "x" + std::to_string(i);
    const std::string y = "y" + std::to_string(i);
    const Handle x_dir = a->mkdir(kRoot, root(), x, {})->attributes.handle;
    const Handle y_dir = b->mkdir(kRoot, root(), y, {})->attributes.handle;
    bool moved_x = false;
    std::thread other([&] { moved_x = b->rename(kRoot, root(), x, y_dir, "in").has_value(); });
    const bool moved_y = a->rename(kRoot, root(), y, x_dir, "in").has_value();
    other.join();
    EXPECT_NE(moved_x, moved_y) << i;
  }
}

TEST_F(SeveralMountsTest, TheLivingTakeOverAndBecomeSoleAgain) {
  const auto a = open(1);
  auto b = open(2);
  auto c = open(3);
  ASSERT_TRUE(a && b && c);
  const Handle file = create(*b, "of b");
  fence(b->id());
  EXPECT_TRUE(eventually([&] { return mount_records() == 2; })) << "somebody took over";
  EXPECT_TRUE(eventually([&] { return disproofs == 1; })) << "b alone has been told";
  EXPECT_EQ(a->lookup(root(), "of b")->handle, file);
  EXPECT_EQ(value(kv::keys::heartbeat(formatted.fs, b->id())), "");
  ASSERT_TRUE(c->close());
  c.reset();
  EXPECT_TRUE(eventually([&] { return mount_records() == 1; }));
  EXPECT_EQ(value(kv::keys::solo(formatted.fs)), "") << "not yet: it may come back";
  become_sole(*a);
  EXPECT_TRUE(
      eventually([&] { return a->getattr_from_cache(root(), Freshness::kStrict).has_value(); }));
  EXPECT_TRUE(a->create(kRoot, root(), "sole", CreateMode::kGuarded, 0, {})->directory.pre);
  c = open(3);
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->lookup(root(), "sole"));
}

TEST_F(SeveralMountsTest, AFileUnlinkedWhileOpenElsewhereLivesUntilItsLastClose) {
  const auto a = open(1);
  const auto b = open(2);
  const auto c = open(3);
  ASSERT_TRUE(a && b && c);
  const Handle file = create(*a, "f");
  const std::string inode = kv::keys::inode(formatted.fs, file.ino);
  b->opened(file);
  ASSERT_TRUE(b->getattr(file));
  ASSERT_TRUE(a->unlink(kRoot, root(), "f"));
  const auto nameless = b->getattr(file);
  ASSERT_TRUE(nameless) << nameless.error().message;
  EXPECT_EQ(nameless->nlink, 0u);
  const std::string hold = kv::keys::hold(formatted.fs, file.ino, b->id());
  EXPECT_TRUE(eventually([&] { return revision(hold) > 0; }));
  const std::int64_t unlinked = revision(kv::keys::orphan(formatted.fs, file.ino));
  EXPECT_TRUE(eventually([&] { return looked(*c) >= unlinked; }));
  c->opened(file);
  EXPECT_EQ(code(c->getattr(file)), ErrorCode::kStale) << "no new open is allowed";
  c->closed(file);
  EXPECT_TRUE(eventually([&] { return looked(*b) >= unlinked; }));
  EXPECT_NE(value(inode), "");
  EXPECT_TRUE(b->getattr(file));
  b->closed(file);
  EXPECT_TRUE(eventually([&] { return value(inode).empty(); }));
  EXPECT_EQ(value(kv::keys::orphan(formatted.fs, file.ino)), "");
}

// The inode is still there: the other mounts must first say that they do not have it open.
TEST_F(SeveralMountsTest, AHandleOfAFileThatNobodyHasOpenIsStaleAfterItsLastUnlink) {
  const auto a = open(1);
  auto b = open(2);
  ASSERT_TRUE(a && b);
  SetAttributes mode;
  mode.mode = 0600;
  for (int i = 0; i < 20; ++i) {
    const Handle file = create(*a, "f");
    ASSERT_TRUE(a->unlink(kRoot, root(), "f"));
    EXPECT_EQ(code(a->getattr(file)), ErrorCode::kStale);
    EXPECT_EQ(code(a->setattr(kRoot, file, mode)), ErrorCode::kStale);
  }
  const Handle open_here = create(*a, "f");
  a->opened(open_here);
  ASSERT_TRUE(a->unlink(kRoot, root(), "f"));
  EXPECT_TRUE(a->getattr(open_here));
  EXPECT_TRUE(a->setattr(kRoot, open_here, mode));
  a->closed(open_here);
  EXPECT_TRUE(
      eventually([&] { return value(kv::keys::inode(formatted.fs, open_here.ino)).empty(); }));
}

TEST_F(SeveralMountsTest, WhatAnEndedMountUnlinkedOrHeldIsRemoved) {
  const auto a = open(1);
  auto b = open(2);
  ASSERT_TRUE(a && b);
  const Handle held = create(*a, "held");
  b->opened(held);
  ASSERT_TRUE(a->unlink(kRoot, root(), "held"));
  ASSERT_TRUE(b->getattr(held));
  const Handle unlinked = create(*b, "unlinked");
  b->opened(unlinked);
  ASSERT_TRUE(b->unlink(kRoot, root(), "unlinked"));
  fence(b->id());
  for (const Handle& file : {held, unlinked})
    EXPECT_TRUE(eventually([&] { return value(kv::keys::inode(formatted.fs, file.ino)).empty(); }));
  EXPECT_TRUE(eventually([&] {
    return kv::range_blocking(*formatted.store, kv::prefix_range(kv::keys::holds(formatted.fs)), 0,
                              1000)
        ->kvs.empty();
  }));
}

// The freed blocks are in groups of the first mount, which is not told of the free. It has to find
// out by itself, even if it has never read its groups again before.
TEST_F(SeveralMountsTest, WhatOneHasWrittenAndAnotherRemovedIsWrittenAgain) {
  const auto a = open(1);
  const auto b = open(2);
  ASSERT_TRUE(a && b);
  const Handle file = create(*a, "f");
  ASSERT_TRUE(fill(*a, file, 40));
  ASSERT_TRUE(b->unlink(kRoot, root(), "f"));
  EXPECT_TRUE(eventually([&] { return value(kv::keys::inode(formatted.fs, file.ino)).empty(); }));
  const Handle again = create(*a, "g");
  const Status written = fill(*a, again, 40);
  EXPECT_TRUE(written) << written.error().message;
}

TEST_F(SeveralMountsTest, OneMountPerVnfs) {
  const auto a = open(1);
  const auto again = Mount::open(*formatted.store, clock,
                                 std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate),
                                 mount_options(formatted.fs, 99));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kBusy);
}

}  // namespace
}  // namespace symnas::fs
