#include "fsal_cluster/quota/usage_table.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "common/kv/usage_keys.h"

namespace symnas::fs {
namespace {

const FsId kFs{7};
const Subject kAnn{SubjectKind::kUser, 1};

kv::KeyValue mode(std::uint32_t epoch, records::QuotaMode::State state) {
  records::QuotaMode record;
  record.set_epoch(epoch);
  record.set_state(state);
  return {kv::keys::quota_mode(kFs), record.SerializeAsString(), {}, Revision{1}, 1};
}
Usages of(std::int64_t blocks) {
  Usages out;
  add(out, kAnn, {blocks, 1});
  return out;
}
kv::KeyValue slot(std::uint32_t epoch, std::uint64_t mount, std::int64_t blocks) {
  return {kv::keys::usage_slot(kFs, epoch, MountId{mount}, 0),
          encode_usage(of(blocks)),
          {},
          Revision{2},
          1};
}
kv::KeyValue base(std::uint32_t epoch, std::int64_t blocks) {
  return {kv::keys::usage_base(kFs, epoch, 1, 1), encode_usage(of(blocks)), {}, Revision{2}, 1};
}
kv::WatchEvent put(kv::KeyValue kv) { return {false, std::move(kv)}; }

TEST(UsageTable, SumsBasesAndSlotsOfTheEpoch) {
  UsageTable table(kFs);
  EXPECT_TRUE(table.mode().off());
  table.on_image({base(2, 10), mode(2, records::QuotaMode::ON), slot(2, 1, 5), slot(2, 2, -3),
                  slot(1, 1, 100)},
                 Revision{10});
  EXPECT_TRUE(table.mode().on());
  EXPECT_EQ(table.total(kAnn), (Usage{12, 3}));
  table.on_events({put(slot(2, 2, 4))}, Revision{11});
  EXPECT_EQ(table.total(kAnn).blocks, 19);
  table.on_events({{true, {slot(2, 1, 0).key, "", {}, Revision{12}, 0}}}, Revision{12});
  EXPECT_EQ(table.total(kAnn).blocks, 14);
  table.on_events({put(mode(3, records::QuotaMode::ARMING))}, Revision{13});
  EXPECT_EQ(table.total(kAnn), Usage{});
}

TEST(UsageTable, OwnChangesCountUntilTheWatchShowsThem) {
  UsageTable table(kFs);
  table.on_image({mode(1, records::QuotaMode::ON)}, Revision{10});
  table.changed(Revision{12}, of(7));
  EXPECT_EQ(table.total(kAnn).blocks, 7);
  table.on_events({put(slot(1, 1, 7))}, Revision{12});
  EXPECT_EQ(table.total(kAnn).blocks, 7);
  table.changed(Revision{12}, of(7));  // the watch was faster
  EXPECT_EQ(table.total(kAnn).blocks, 7);
}

TEST(UsageTable, LimitsHoldWhenEveryInodeIsCounted) {
  UsageTable table(kFs);
  records::QuotaLimit limit;
  limit.set_bytes_hard(4096);
  const kv::KeyValue of_ann{
      kv::keys::quota_limit(kFs, 1, 1), limit.SerializeAsString(), {}, Revision{3}, 1};
  table.on_image({mode(1, records::QuotaMode::COUNTING), of_ann}, Revision{10});
  EXPECT_TRUE(table.mode().counts());
  EXPECT_FALSE(table.limits_anything());
  table.on_events({put(mode(1, records::QuotaMode::ON))}, Revision{11});
  EXPECT_TRUE(table.limits_anything());
  EXPECT_EQ(table.limit(kAnn)->record.bytes_hard(), 4096U);
  table.on_events({{true, {of_ann.key, "", {}, Revision{12}, 0}}}, Revision{12});
  EXPECT_FALSE(table.limits_anything());
}

TEST(UsageTable, KnowsSlotsOfMountsThatAreGone) {
  UsageTable table(kFs);
  table.on_image({mode(1, records::QuotaMode::ON), slot(1, 1, 5), slot(1, 2, 6)}, Revision{10});
  const auto gone = table.slots_of_others({MountId{1}});
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].key, slot(1, 2, 0).key);
  EXPECT_EQ(gone[0].usages, of(6));
}

// A transaction that would read OFF while an image is taken would not be counted.
TEST(UsageTable, AnImageShowsNobodyAnotherModeOnItsWay) {
  UsageTable table(kFs);
  // Many parts before the mode's key, so that a reader meets the image half taken.
  std::vector<kv::KeyValue> image;
  for (std::uint64_t mount = 1; mount <= 2'000; ++mount) image.push_back(slot(1, mount, 1));
  image.push_back(mode(1, records::QuotaMode::ON));
  table.on_image(image, Revision{1});
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> reads{0};
  std::int64_t wrong = 0;
  std::thread commits([&] {
    for (; !stop; ++reads) wrong += table.mode().on() && table.mode().epoch == 1 ? 0 : 1;
  });
  for (std::int64_t at = 2; at <= 100 || reads == 0; ++at) {
    table.on_lost();
    table.on_image(image, Revision{at});
    table.on_events({put(mode(1, records::QuotaMode::ON))}, Revision{at});
  }
  stop = true;
  commits.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(table.total(kAnn), (Usage{2'000, 2'000}));
}

TEST(UsageTable, ALostWatchIsWaitedFor) {
  UsageTable table(kFs);
  EXPECT_FALSE(table.complete());
  int runs = 0;
  table.when_complete([&] { ++runs; });
  EXPECT_EQ(runs, 0);
  table.on_image({mode(1, records::QuotaMode::ON)}, Revision{10});
  EXPECT_EQ(runs, 1);
  table.when_complete([&] { ++runs; });
  EXPECT_EQ(runs, 2);
  table.on_lost();
  EXPECT_FALSE(table.complete());
  EXPECT_TRUE(table.mode().on());  // commits go on being counted
  table.when_complete([&] { ++runs; });
  EXPECT_EQ(runs, 2);
  table.stop();
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace symnas::fs
