#include "fsal_cluster/quota/quotas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "common/kv/usage_keys.h"

namespace symnas::fs {
namespace {

const FsId kFs{7};
const Subjects kAnn{1, 2, 0, 0};
const Subject kUser{SubjectKind::kUser, 1};
constexpr std::int64_t kSecondNs = 1'000'000'000;

kv::KeyValue mode_on() {
  records::QuotaMode mode;
  mode.set_epoch(1);
  mode.set_state(records::QuotaMode::ON);
  return {kv::keys::quota_mode(kFs), mode.SerializeAsString(), {}, Revision{1}, 1};
}
kv::KeyValue limit_of_user(const records::QuotaLimit& limit) {
  return {kv::keys::quota_limit(kFs, 1, 1), limit.SerializeAsString(), {}, Revision{1}, 1};
}

class QuotasTest : public testing::Test {
 protected:
  void limit(const records::QuotaLimit& limit, std::int64_t used_blocks = 0,
             std::int64_t since_ns = 0) {
    Usages used;
    add(used, kAnn, {used_blocks, used_blocks == 0 ? 0 : 1});
    records::QuotaGrace grace;
    grace.set_bytes_since_ns(since_ns);
    table.on_image(
        {mode_on(),
         limit_of_user(limit),
         {kv::keys::quota_grace(kFs, 1, 1), grace.SerializeAsString(), {}, Revision{1}, 1},
         {kv::keys::usage_slot(kFs, 1, MountId{1}, 0), encode_usage(used), {}, Revision{1}, 1}},
        Revision{10});
  }
  static records::QuotaLimit hard_blocks(std::uint64_t blocks) {
    records::QuotaLimit out;
    out.set_bytes_hard(blocks * 4096);
    return out;
  }
  // A transaction of this mount.
  void record(std::int64_t blocks) {
    Usages delta;
    add(delta, kUser, {blocks, 0});
    table.changed(Revision{20}, delta);
  }
  Quotas::Caller looked() const { return {Quotas::Exempt::kNo, Quotas::Looked::kYes, {}}; }
  UsageTable table{kFs};
  bool others = false;
  std::int64_t now_ns = 100 * kSecondNs;
  int barriers = 0;
  Quotas quotas{table,
                {.block_bytes = 4096,
                 .others = [this] { return others; },
                 .now_ns = [this] { return now_ns; },
                 .barrier = [this]() -> Status {
                   ++barriers;
                   return {};
                 }}};
};

TEST_F(QuotasTest, WithoutLimitsNobodyNeedsToAsk) {
  EXPECT_FALSE(quotas.any());
  limit(hard_blocks(10));
  EXPECT_TRUE(quotas.any());
}

TEST_F(QuotasTest, NobodyIsRefusedFromAnOldView) {
  limit(hard_blocks(100), 95);
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, kAnn, {6, 0}, {}), Quotas::Verdict::kLookFirst);
  const auto refused = quotas.admit(charge, kAnn, {6, 0}, looked());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kQuotaExceeded);
  EXPECT_EQ(*quotas.admit(charge, kAnn, {5, 0}, looked()), Quotas::Verdict::kGranted);
}

TEST_F(QuotasTest, WhatIsAdmittedCountsUntilItIsReleased) {
  limit(hard_blocks(100));
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, kAnn, {100, 0}, looked()), Quotas::Verdict::kGranted);
  {
    Quotas::Charge other;
    EXPECT_EQ(*quotas.admit(other, kAnn, {1, 0}, looked()), Quotas::Verdict::kLookFirst);
  }
  charge.release({40, 0});
  EXPECT_EQ(charge.usage().blocks, 60);
  Quotas::Charge other;
  EXPECT_EQ(*quotas.admit(other, kAnn, {40, 0}, looked()), Quotas::Verdict::kGranted);
}

TEST_F(QuotasTest, RootPassesAndCounts) {
  limit(hard_blocks(10));
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, kAnn, {50, 0}, {Quotas::Exempt::kYes, Quotas::Looked::kNo, {}}),
            Quotas::Verdict::kGranted);
  Quotas::Charge other;
  EXPECT_EQ(*quotas.admit(other, kAnn, {1, 0}, looked()), Quotas::Verdict::kLookFirst);
  record(50);
  charge.release_all();
  EXPECT_FALSE(quotas.admit(other, kAnn, {1, 0}, looked()));
}

// A commit of this mount shows in the sums before its charge is given back.
TEST_F(QuotasTest, NobodyIsRefusedByWhatIsCountedTwice) {
  limit(hard_blocks(100));
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, kAnn, {60, 0}, looked()), Quotas::Verdict::kGranted);
  record(60);
  Quotas::Charge other;
  EXPECT_EQ(*quotas.admit(other, kAnn, {40, 0}, looked()), Quotas::Verdict::kLookFirst);
  EXPECT_FALSE(quotas.admit(other, kAnn, {41, 0}, looked()));
  charge.release_all();
  EXPECT_EQ(*quotas.admit(other, kAnn, {40, 0}, looked()), Quotas::Verdict::kGranted);
}

TEST_F(QuotasTest, WhatAnOperationHasTakenItselfCounts) {
  limit(hard_blocks(100));
  Quotas::Charge charge;
  Quotas::Caller caller = looked();
  EXPECT_EQ(*quotas.admit(charge, kAnn, {60, 0}, caller), Quotas::Verdict::kGranted);
  caller.own = {60, 0};
  EXPECT_FALSE(quotas.admit(charge, kAnn, {41, 0}, caller));
  EXPECT_EQ(*quotas.admit(charge, kAnn, {40, 0}, caller), Quotas::Verdict::kGranted);
}

TEST_F(QuotasTest, ALookWaitsForALostWatch) {
  others = true;
  limit(hard_blocks(100));
  table.on_lost();
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, kAnn, {1, 0}, looked()), Quotas::Verdict::kLookFirst);
  std::atomic<bool> back{false};
  std::thread watch([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    back = true;
    limit(hard_blocks(100), 100);
  });
  const Status refused = quotas.admit_blocking(charge, kAnn, {1, 0}, Quotas::Exempt::kNo,
                                               [](const Subjects&) { return Status(); });
  EXPECT_TRUE(back);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kQuotaExceeded);
  watch.join();
  others = false;  // alone it knows what there is
  table.on_lost();
  EXPECT_FALSE(quotas.admit(charge, kAnn, {1, 0}, looked()));
}

TEST_F(QuotasTest, ALargeOperationDoesNotStarveBesideSmallOnes) {
  others = true;
  limit(hard_blocks(100'000));
  const std::int64_t window = window_of(hard_blocks(100'000), 4096).blocks;
  Quotas::Charge small;
  EXPECT_EQ(*quotas.admit(small, kAnn, {window, 0}, {}), Quotas::Verdict::kGranted);
  Quotas::Charge large;
  EXPECT_EQ(*quotas.admit(large, kAnn, {window, 0}, {}), Quotas::Verdict::kLookFirst);
  EXPECT_EQ(*quotas.admit(large, kAnn, {window - 1, 0}, looked()), Quotas::Verdict::kLookFirst);
  EXPECT_EQ(*quotas.admit(large, kAnn, {window, 0}, looked()), Quotas::Verdict::kGranted);
  Quotas::Charge next;  // not one after the other
  EXPECT_EQ(*quotas.admit(next, kAnn, {window, 0}, looked()), Quotas::Verdict::kLookFirst);
}

TEST_F(QuotasTest, ALimitBelowABlockIsALimit) {
  records::QuotaLimit tiny;
  tiny.set_bytes_hard(4095);
  limit(tiny);
  Quotas::Charge charge;
  EXPECT_FALSE(quotas.admit(charge, kAnn, {1, 0}, looked()));
  EXPECT_EQ(*quotas.admit(charge, kAnn, {0, 1}, looked()), Quotas::Verdict::kGranted);
}

TEST_F(QuotasTest, AWindowIsUsedOnce) {
  others = true;
  limit(hard_blocks(100'000));
  const std::int64_t window = window_of(hard_blocks(100'000), 4096).blocks;
  EXPECT_EQ(window, 100'000 / 64);
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, kAnn, {window, 0}, {}), Quotas::Verdict::kGranted);
  EXPECT_EQ(*quotas.admit(charge, kAnn, {1, 0}, {}), Quotas::Verdict::kLookFirst);
  charge.release_all();
  quotas.looked(kAnn);
  EXPECT_EQ(*quotas.admit(charge, kAnn, {window, 0}, {}), Quotas::Verdict::kGranted);
  others = false;  // alone there is nobody to look at
  EXPECT_EQ(*quotas.admit(charge, kAnn, {window, 0}, {}), Quotas::Verdict::kGranted);
}

TEST_F(QuotasTest, ASoftLimitHoldsAfterItsGrace) {
  records::QuotaLimit soft;
  soft.set_bytes_soft(10 * 4096);
  soft.set_bytes_grace_s(60);
  limit(soft, 20, now_ns);
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, kAnn, {1, 0}, looked()), Quotas::Verdict::kGranted);
  now_ns += 61 * kSecondNs;
  const auto refused = quotas.admit(charge, kAnn, {1, 0}, looked());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("grace"), std::string::npos);
}

TEST_F(QuotasTest, AFileOfAnotherOwnerIsAnotherOnesCharge) {
  limit(hard_blocks(100));
  Quotas::Charge charge;
  EXPECT_EQ(*quotas.admit(charge, Subjects{9, 9, 0, 0}, {90, 0}, {}), Quotas::Verdict::kGranted);
  EXPECT_EQ(*quotas.admit(charge, kAnn, {1, 0}, looked()), Quotas::Verdict::kGranted);
  Quotas::Charge other;
  EXPECT_EQ(*quotas.admit(other, kAnn, {10, 0}, looked()), Quotas::Verdict::kLookFirst);
}

TEST_F(QuotasTest, WhoMayBlockLooksForItself) {
  others = true;
  limit(hard_blocks(100));
  Quotas::Charge charge;
  EXPECT_FALSE(quotas.admit_blocking(charge, kAnn, {101, 0}, Quotas::Exempt::kNo,
                                     [](const Subjects&) { return Status(); }));
  EXPECT_EQ(barriers, 1);
}

// Some mounts that write for one user at once, each with a view that may lag behind as it likes.
class Mounts {
 public:
  Mounts(std::size_t count, std::uint64_t limit_blocks, std::uint32_t seed)
      : random_(seed), limit_blocks_(static_cast<std::int64_t>(limit_blocks)) {
    records::QuotaLimit limit;
    limit.set_bytes_hard(limit_blocks * 4096);
    window_ = window_of(limit, 4096).blocks;
    for (std::size_t i = 0; i < count; ++i) {
      mounts_.push_back(std::make_unique<One>());
      mounts_.back()->table.on_image({mode_on(), limit_of_user(limit)}, Revision{1});
    }
  }
  void step() {
    const std::size_t i = random_() % mounts_.size();
    switch (random_() % 8) {
      case 0: return record(i, mounts_[i]->charge.usage().blocks);
      case 1: return record(i, static_cast<std::int64_t>(random_() % 300));
      case 2: return see(i, random_() % 4);
      case 3: return remove(i);
      default: return write(i, 1 + static_cast<std::int64_t>(random_() % 256));
    }
  }
  std::int64_t used() const {
    std::int64_t sum = 0;
    for (const auto& mount : mounts_) sum += mount->recorded + mount->charge.usage().blocks;
    return sum;
  }
  std::int64_t most() const {
    return limit_blocks_ + static_cast<std::int64_t>(mounts_.size() - 1) * window_;
  }
  int refused() const { return refused_; }

 private:
  struct One {
    UsageTable table{kFs};
    Quotas quotas{table,
                  {.block_bytes = 4096,
                   .others = [] { return true; },
                   .now_ns = [] { return std::int64_t{1}; },
                   .barrier = [] { return Status(); }}};
    Quotas::Charge charge;
    std::int64_t recorded = 0;
    std::size_t seen = 0;  // of the log
  };
  struct Event {
    std::size_t mount;
    std::int64_t recorded;
  };

  void record(std::size_t i, std::int64_t blocks) {
    One& mount = *mounts_[i];
    blocks = std::min(blocks, mount.charge.usage().blocks);
    if (blocks == 0) return;
    mount.recorded += blocks;
    log_.push_back({i, mount.recorded});
    Usages delta;
    add(delta, kUser, {blocks, 0});
    mount.table.changed(Revision{static_cast<std::int64_t>(log_.size()) + 1}, delta);
    mount.charge.release({blocks, 0});
  }
  void remove(std::size_t i) {
    One& mount = *mounts_[i];
    const std::int64_t blocks = std::min<std::int64_t>(mount.recorded, random_() % 500);
    if (blocks == 0) return;
    mount.recorded -= blocks;
    log_.push_back({i, mount.recorded});
    Usages delta;
    add(delta, kUser, {-blocks, 0});
    mount.table.changed(Revision{static_cast<std::int64_t>(log_.size()) + 1}, delta);
  }
  void see(std::size_t i, std::size_t events) {
    One& mount = *mounts_[i];
    for (; events > 0 && mount.seen < log_.size(); --events) {
      const Event& event = log_[mount.seen++];
      Usages usages;
      add(usages, kUser, {event.recorded, 0});
      const Revision at{static_cast<std::int64_t>(mount.seen) + 1};
      const std::string key = kv::keys::usage_slot(kFs, 1, MountId{event.mount + 1}, 0);
      mount.table.on_events({{false, {key, encode_usage(usages), {}, at, 1}}}, at);
    }
  }
  void write(std::size_t i, std::int64_t blocks) {
    One& mount = *mounts_[i];
    Quotas::Caller caller;
    for (;;) {
      const auto verdict = mount.quotas.admit(mount.charge, kAnn, {blocks, 0}, caller);
      if (!verdict) {
        ++refused_;
        // It was true: what is recorded, and this mount's own, leave no room.
        std::int64_t recorded = 0;
        for (const auto& one : mounts_) recorded += one->recorded;
        EXPECT_GT(recorded + mount.charge.usage().blocks + blocks, limit_blocks_);
        return;
      }
      if (*verdict == Quotas::Verdict::kGranted) return;
      record(i, mount.charge.usage().blocks);
      see(i, log_.size());
      mount.quotas.looked(kAnn);
      caller.looked = Quotas::Looked::kYes;
    }
  }

  std::mt19937 random_;
  const std::int64_t limit_blocks_;
  std::int64_t window_ = 0;
  std::vector<std::unique_ptr<One>> mounts_;
  std::vector<Event> log_;
  int refused_ = 0;
};

TEST(QuotasModel, MountsPassALimitByTheirWindowsAtMost) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    Mounts mounts(1 + seed % 5, 40'000, seed);
    for (int i = 0; i < 2'000; ++i) {
      mounts.step();
      ASSERT_LE(mounts.used(), mounts.most()) << "seed " << seed << ", step " << i;
    }
    EXPECT_GT(mounts.refused(), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace symnas::fs
