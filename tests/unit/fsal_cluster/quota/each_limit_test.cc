// Limits of each user and each group.
#include <gtest/gtest.h>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/standing.h"
#include "fsal_cluster/quota/usage_table.h"

namespace symnas::fs {
namespace {

const FsId kFs{7};
const Subject kRootUser{SubjectKind::kUser, 0};
const Subject kAnn{SubjectKind::kUser, 1};
const Subject kBob{SubjectKind::kUser, 2};
const Subject kStaff{SubjectKind::kGroup, 1};
const Subject kEach{SubjectKind::kEachUser, 0};
const Subject kEachGroup{SubjectKind::kEachGroup, 0};

kv::KeyValue limit_of(const Subject& subject, std::uint64_t bytes) {
  records::QuotaLimit limit;
  limit.set_bytes_hard(bytes);
  limit.set_inodes_hard(bytes == 0 ? 0 : 3);
  return {kv::keys::quota_limit(kFs, static_cast<std::uint8_t>(subject.kind), subject.id),
          limit.SerializeAsString(),
          {},
          Revision{3},
          1};
}

class EachLimitTest : public testing::Test {
 protected:
  EachLimitTest() {
    records::QuotaMode mode;
    mode.set_epoch(1);
    mode.set_state(records::QuotaMode::ON);
    Usages used;
    add(used, Subjects{1, 1, 0, 0}, {5, 1});
    add(used, Subjects{2, 1, 0, 0}, {5, 1});
    add(used, Subjects{0, 0, 0, 0}, {5, 1});
    table.on_image(
        {{kv::keys::quota_mode(kFs), mode.SerializeAsString(), {}, Revision{1}, 1},
         {kv::keys::usage_slot(kFs, 1, MountId{1}, 0), encode_usage(used), {}, Revision{1}, 1}},
        Revision{10});
  }
  void put(const kv::KeyValue& kv) { table.on_events({{false, kv}}, Revision{++revision}); }
  std::uint64_t bytes_of(const Subject& subject) const {
    const auto limit = table.limit(subject);
    return limit ? limit->record.bytes_hard() : 0;
  }
  UsageTable table{kFs};
  std::int64_t revision = 10;
};

TEST_F(EachLimitTest, HoldsForThoseWithoutOneOfTheirOwn) {
  put(limit_of(kEach, 8192));
  EXPECT_TRUE(table.limits_anything());
  EXPECT_EQ(bytes_of(kAnn), 8192U);
  EXPECT_EQ(table.limit(kAnn)->whose, kEach);
  EXPECT_FALSE(table.limit(kStaff));
  put(limit_of(kAnn, 4096));
  EXPECT_EQ(bytes_of(kAnn), 4096U);
  EXPECT_EQ(table.limit(kAnn)->whose, kAnn);
  EXPECT_EQ(bytes_of(kBob), 8192U);
  // Who has not written anything has it, too.
  EXPECT_EQ(bytes_of({SubjectKind::kUser, 77}), 8192U);
}

TEST_F(EachLimitTest, AnOwnLimitOfNothingLiftsIt) {
  put(limit_of(kEach, 8192));
  put(limit_of(kAnn, 0));
  ASSERT_TRUE(table.limit(kAnn));
  EXPECT_EQ(bytes_of(kAnn), 0U);
}

TEST_F(EachLimitTest, RootAndItsGroupHaveNone) {
  put(limit_of(kEach, 8192));
  put(limit_of(kEachGroup, 8192));
  EXPECT_FALSE(table.limit(kRootUser));
  EXPECT_FALSE(table.limit({SubjectKind::kGroup, 0}));
  EXPECT_FALSE(table.limit({SubjectKind::kFilesystem, 0}));
  EXPECT_EQ(bytes_of(kStaff), 8192U);
}

TEST_F(EachLimitTest, EndsWithItsRecord) {
  const kv::KeyValue record = limit_of(kEach, 8192);
  put(record);
  table.on_events({{true, {record.key, "", {}, Revision{12}, 0}}}, Revision{12});
  EXPECT_FALSE(table.limit(kAnn));
  EXPECT_FALSE(table.limits_anything());
}

TEST_F(EachLimitTest, HeldAreOwnLimitsAndThoseWhoUseSomething) {
  put(limit_of({SubjectKind::kUser, 9}, 4096));
  EXPECT_EQ(table.held().size(), 1U);
  put(limit_of(kEach, 8192));
  const auto held = table.held();
  ASSERT_EQ(held.size(), 3U);
  EXPECT_EQ(held.at(kAnn).whose, kEach);
  EXPECT_EQ(held.at(kBob).whose, kEach);
  EXPECT_EQ(held.at({SubjectKind::kUser, 9}).record.bytes_hard(), 4096U);
}

TEST_F(EachLimitTest, QuotaOfAClientShowsIt) {
  put(limit_of(kEach, 8192));
  const auto standing = standing_of(table, kAnn, 4096, 0);
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->bytes.hard, 8192U);
  EXPECT_EQ(standing->inodes.hard, 3U);
}

}  // namespace
}  // namespace symnas::fs
