// Share reservations of opens through several mounts of one filesystem.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "common/kv/keys.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/state/mount_end.h"
#include "fsal_cluster/state/share_modes.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using test::SimDisk;
using test::SimVolume;

constexpr ShareMode kClosed{};
constexpr ShareMode kReads{kShareRead, 0};
constexpr ShareMode kWrites{kShareRead | kShareWrite, 0};
constexpr ShareMode kReadsAlone{kShareRead, kShareWrite};
constexpr ShareMode kAlone{kShareRead | kShareWrite, kShareRead | kShareWrite};
constexpr std::int64_t kLeaseS = 1;

class SharesTest : public testing::Test {
 protected:
  std::unique_ptr<Mount> open(std::uint32_t vnfs) {
    MountOptions options = mount_options(formatted.fs, ++epoch, vnfs);
    options.nfs_lease_s = kLeaseS;
    auto mount =
        Mount::open(*formatted.store, env::system_clock(),
                    std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate), options);
    EXPECT_TRUE(mount) << mount.error().message;
    return mount ? std::move(*mount) : nullptr;
  }
  // Ends the mount as a crash of its head does.
  void crash(std::unique_ptr<Mount>& mount) {
    const MountId id = mount->id();
    ASSERT_TRUE(end_mount(*formatted.store, env::system_clock(), formatted.fs, id,
                          EndProof{"c1n9", "killed, reaped, OFD locks obtained"}));
    mount.reset();
  }
  static ShareAnswer change(Mount& mount, ShareMode before, ShareMode after,
                            bool is_reclaim = false) {
    const auto answer = mount.share(file, before, after, is_reclaim);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : ShareAnswer::kLater;
  }
  static ShareAnswer take(Mount& mount, ShareMode mode) { return change(mount, kClosed, mode); }
  static ShareAnswer reclaim(Mount& mount, ShareMode mode) {
    return change(mount, kClosed, mode, true);
  }
  static void give(Mount& mount, ShareMode mode) {
    EXPECT_EQ(change(mount, mode, kClosed), ShareAnswer::kGranted);
  }
  // Tries again, as a client does that is told to.
  static ShareAnswer insist(Mount& mount, ShareMode mode) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (;;) {
      const ShareAnswer answer = take(mount, mode);
      if (answer != ShareAnswer::kLater || std::chrono::steady_clock::now() > deadline)
        return answer;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  static bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  std::size_t records_of(Ino ino) {
    const auto range = kv::prefix_range(kv::keys::shares_of(formatted.fs, ino));
    return kv::range_blocking(*formatted.store, range, 0, 1000)->kvs.size();
  }
  // True when the store shows every mount as one that may have opens.
  bool are_known(std::size_t mounts) {
    return eventually([&] { return records_of(Ino{0}) == mounts; });
  }

  Formatted formatted;
  static inline const Handle file{FsId{1}, Ino{77}, Generation{1}};
  std::uint64_t epoch = 0;
  std::shared_ptr<SimDisk> disk =
      std::make_shared<SimDisk>(std::uint64_t{64} << 20, std::byte{0xEE});
};

TEST_F(SharesTest, WhatAnOpenDeniesItDeniesThroughEveryMount) {
  const auto one = open(1);
  const auto two = open(2);
  ASSERT_EQ(take(*one, kReadsAlone), ShareAnswer::kGranted);
  EXPECT_EQ(take(*two, kWrites), ShareAnswer::kDenied);
  EXPECT_EQ(take(*one, kWrites), ShareAnswer::kDenied);
  EXPECT_EQ(take(*two, kReads), ShareAnswer::kGranted);
  EXPECT_EQ(take(*two, kReadsAlone), ShareAnswer::kGranted) << "both only read";
  EXPECT_TRUE(eventually([&] { return one->is_denied(file, kShareWrite); }));
  EXPECT_FALSE(one->is_denied(file, kShareRead));
  give(*one, kReadsAlone);
  EXPECT_EQ(take(*one, kWrites), ShareAnswer::kDenied) << "by the other one";
  give(*two, kReadsAlone);
  EXPECT_EQ(take(*one, kWrites), ShareAnswer::kGranted);
}

TEST_F(SharesTest, AnOpenThatDeniesMeetsThoseThatWereNeverRecorded) {
  const auto one = open(1);
  const auto two = open(2);
  ASSERT_TRUE(are_known(2));
  ASSERT_EQ(take(*two, kWrites), ShareAnswer::kGranted);
  EXPECT_EQ(records_of(file.ino), 0u);
  EXPECT_EQ(take(*one, kReadsAlone), ShareAnswer::kDenied);
  EXPECT_EQ(change(*two, kWrites, kReads), ShareAnswer::kGranted);
  EXPECT_EQ(take(*one, kReadsAlone), ShareAnswer::kGranted);
  EXPECT_EQ(change(*two, kReads, kWrites), ShareAnswer::kDenied);
  give(*two, kReads);
}

TEST_F(SharesTest, AFileIsMadeWithItsFirstOpen) {
  const auto one = open(1);
  const auto two = open(2);
  const Handle root{formatted.fs, kRootIno, Generation{1}};
  NewNode node;
  node.open = kReadsAlone;
  const auto made = one->create(kRoot, root, "f", CreateMode::kGuarded, 0, node);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->opened);
  const Handle it = made->attributes.handle;
  const auto share = [&](Mount& mount, ShareMode before, ShareMode after) {
    return *mount.share(it, before, after, false);
  };
  EXPECT_EQ(share(*two, kClosed, kWrites), ShareAnswer::kDenied);
  EXPECT_EQ(share(*one, kClosed, kWrites), ShareAnswer::kDenied);
  EXPECT_EQ(share(*two, kClosed, kReads), ShareAnswer::kGranted);
  EXPECT_EQ(share(*one, kReadsAlone, kReads), ShareAnswer::kGranted);
  EXPECT_EQ(share(*two, kReads, kWrites), ShareAnswer::kGranted);
  EXPECT_EQ(share(*one, kClosed, kReadsAlone), ShareAnswer::kDenied);
}

// Whether others can be asked does not matter: nobody can have it open yet.
TEST_F(SharesTest, AFileIsMadeWithItsFirstOpenBesideAnEndedMount) {
  auto ended = open(2);
  const auto one = open(1);
  ASSERT_TRUE(are_known(2));
  crash(ended);
  const Handle root{formatted.fs, kRootIno, Generation{1}};
  NewNode node;
  node.open = kAlone;
  for (int i = 0; i < 20; ++i) {
    const auto made =
        one->create(kRoot, root, "f" + std::to_string(i), CreateMode::kGuarded, 0, node);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(made->opened);
    EXPECT_EQ(records_of(made->attributes.handle.ino), 1u);
  }
  const auto found = one->create(kRoot, root, "f0", CreateMode::kUnchecked, 0, node);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->opened);
}

// One creates files with an open that denies writing, the other opens each as soon as it is there.
TEST_F(SharesTest, AFirstOpenDeniesFromTheBeginning) {
  const auto one = open(1);
  const auto two = open(2);
  const Handle root{formatted.fs, kRootIno, Generation{1}};
  constexpr int kFiles = 100;
  std::atomic<bool> stop{false};
  std::thread maker([&] {
    NewNode node;
    node.open = kReadsAlone;
    for (int i = 0; i < kFiles && !stop; ++i) {
      const auto made =
          one->create(kRoot, root, "f" + std::to_string(i), CreateMode::kGuarded, 0, node);
      EXPECT_TRUE(made && made->opened);
    }
  });
  for (int i = 0; i < kFiles; ++i) {
    std::optional<Handle> it;
    eventually([&] {
      const auto found = two->lookup(root, "f" + std::to_string(i));
      if (found) it = found->handle;
      return it.has_value();
    });
    if (!it) break;
    const auto answer = two->share(*it, kClosed, kWrites, false);
    EXPECT_TRUE(answer && *answer != ShareAnswer::kGranted);
  }
  stop = true;
  maker.join();
}

TEST_F(SharesTest, OrdinaryOpensWriteNothing) {
  const auto one = open(1);
  const auto two = open(2);
  ASSERT_TRUE(are_known(2));
  ASSERT_TRUE(eventually([&] {  // it has heard of its own record
    const auto before = one->counters().operations;
    EXPECT_EQ(take(*one, kWrites), ShareAnswer::kGranted);
    give(*one, kWrites);
    return one->counters().operations == before;
  }));
  EXPECT_EQ(records_of(file.ino), 0u);
}

TEST_F(SharesTest, NothingStaysRecordedWhenNobodyDeniesAnythingAnyMore) {
  const auto one = open(1);
  const auto two = open(2);
  ASSERT_EQ(take(*two, kReads), ShareAnswer::kGranted);
  ASSERT_EQ(insist(*one, kReadsAlone), ShareAnswer::kGranted);
  EXPECT_EQ(records_of(file.ino), 2u);
  EXPECT_EQ(take(*two, kWrites), ShareAnswer::kDenied);
  give(*one, kReadsAlone);
  EXPECT_TRUE(eventually([&] { return records_of(file.ino) == 0; }));
  EXPECT_EQ(insist(*two, kReadsAlone), ShareAnswer::kGranted);
}

TEST_F(SharesTest, WhatWasDeniedBeforeACrashIsDeniedUntilClientsCouldReclaim) {
  auto one = open(1);
  const auto two = open(2);
  ASSERT_EQ(insist(*one, kReadsAlone), ShareAnswer::kGranted);
  crash(one);
  EXPECT_EQ(take(*two, kWrites), ShareAnswer::kDenied);
  one = open(1);
  EXPECT_EQ(take(*two, kWrites), ShareAnswer::kDenied);
  EXPECT_EQ(take(*one, kWrites), ShareAnswer::kLater) << "it may still be reclaimed";
  EXPECT_EQ(reclaim(*one, kReadsAlone), ShareAnswer::kGranted);
  EXPECT_TRUE(eventually([&] { return records_of(Ino{0}) == 2; })) << "its clients are back";
  EXPECT_EQ(take(*two, kWrites), ShareAnswer::kDenied);
  EXPECT_EQ(take(*one, kWrites), ShareAnswer::kDenied);
  give(*one, kReadsAlone);
  EXPECT_EQ(insist(*two, kWrites), ShareAnswer::kGranted);
}

TEST_F(SharesTest, WhatNobodyReclaimsIsFree) {
  auto one = open(1);
  const auto two = open(2);
  ASSERT_EQ(insist(*one, kAlone), ShareAnswer::kGranted);
  crash(one);
  one = open(1);
  EXPECT_EQ(take(*two, kReads), ShareAnswer::kDenied);
  EXPECT_TRUE(eventually([&] { return take(*two, kReads) == ShareAnswer::kGranted; }));
  EXPECT_EQ(insist(*one, kReads), ShareAnswer::kGranted);
}

TEST_F(SharesTest, AnOrdinaryOpenFromBeforeACrashIsNotDenied) {
  const auto one = open(1);
  auto two = open(2);
  ASSERT_TRUE(are_known(2));
  ASSERT_EQ(take(*two, kWrites), ShareAnswer::kGranted);
  crash(two);
  EXPECT_EQ(take(*one, kReadsAlone), ShareAnswer::kLater) << "an ended mount cannot be asked";
  two = open(2);
  EXPECT_EQ(take(*one, kReadsAlone), ShareAnswer::kLater) << "its clients may still reclaim";
  EXPECT_EQ(reclaim(*two, kWrites), ShareAnswer::kGranted);
  EXPECT_EQ(insist(*one, kReadsAlone), ShareAnswer::kDenied);
  give(*two, kWrites);
  EXPECT_EQ(take(*one, kReadsAlone), ShareAnswer::kGranted);
}

TEST_F(SharesTest, OpensOfAVnfsThatNobodyServesAreForgottenInTheEnd) {
  const auto one = open(1);
  auto two = open(2);
  ASSERT_EQ(insist(*two, kAlone), ShareAnswer::kGranted);
  crash(two);
  EXPECT_EQ(take(*one, kReads), ShareAnswer::kDenied);
  EXPECT_TRUE(eventually([&] { return take(*one, kReads) == ShareAnswer::kGranted; }));
  give(*one, kReads);
  EXPECT_EQ(insist(*one, kAlone), ShareAnswer::kGranted);
}

TEST_F(SharesTest, NobodyWaitsForAMountThatWasClosedWithoutOpens) {
  const auto one = open(1);
  auto two = open(2);
  ASSERT_TRUE(are_known(2));
  ASSERT_EQ(take(*two, kWrites), ShareAnswer::kGranted);
  give(*two, kWrites);
  ASSERT_TRUE(two->close());
  two.reset();
  EXPECT_TRUE(eventually([&] { return records_of(Ino{0}) == 1; }));
  EXPECT_EQ(take(*one, kAlone), ShareAnswer::kGranted);
  two = open(2);
  EXPECT_EQ(take(*two, kReads), ShareAnswer::kDenied);
}

TEST_F(SharesTest, OfOpensThatConflictOnlyOneIsGrantedWhoeverAsks) {
  std::vector<std::unique_ptr<Mount>> mounts;
  for (std::uint32_t vnfs = 1; vnfs <= 3; ++vnfs) mounts.push_back(open(vnfs));
  std::mutex mutex;
  std::vector<ShareMode> granted;  // guarded by mutex
  std::atomic<int> grants{0};
  const auto client = [&](Mount& mount, std::uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 60; ++i) {
      const ShareMode mode{static_cast<std::uint8_t>(1 + random() % 3),
                           static_cast<std::uint8_t>(random() % 4 * (random() % 2))};
      if (take(mount, mode) != ShareAnswer::kGranted) continue;
      ++grants;
      {
        const std::scoped_lock lock(mutex);
        for (const ShareMode& other : granted) EXPECT_FALSE(conflict(mode, other));
        granted.push_back(mode);
      }
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      {
        const std::scoped_lock lock(mutex);
        granted.erase(std::ranges::find(granted, mode));
      }
      give(mount, mode);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < 6; ++i)
      threads.emplace_back([&, i] { client(*mounts[i % mounts.size()], i); });
  }
  EXPECT_GT(grants, 20);
  EXPECT_EQ(insist(*mounts[0], kAlone), ShareAnswer::kGranted) << "nothing is left of them";
}

}  // namespace
}  // namespace symnas::fs
