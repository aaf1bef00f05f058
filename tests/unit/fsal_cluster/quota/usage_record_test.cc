#include "fsal_cluster/quota/usage_record.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/kv/usage_keys.h"

namespace symnas::fs {
namespace {

const Subject kUser{SubjectKind::kUser, 1000};
const Subject kGroup{SubjectKind::kGroup, 100};

TEST(UsageRecord, IsEncodedAsItIsDescribed) {
  Usages usages;
  add(usages, kUser, {256, -1});
  add(usages, kGroup, {-3, 2});
  // counts: {kind 1, id 1000, blocks zigzag(256), inodes zigzag(-1)}, {2, 100, -3, 2}
  EXPECT_EQ(to_hex(encode_usage(usages)), "0a0a080110e80718800420010a080802106418052004");
  EXPECT_EQ(decode_usage(encode_usage(usages)), usages);
}

TEST(UsageRecord, NothingIsAnEmptyRecord) {
  EXPECT_EQ(encode_usage({}), "");
  EXPECT_EQ(decode_usage(""), Usages());
}

TEST(UsageRecord, WhatNoVersionWritesIsRefused) {
  EXPECT_FALSE(decode_usage("\xff"));
  EXPECT_FALSE(decode_usage(std::string("\x0a\x02\x08\x09", 4)));  // kind 9
}

TEST(QuotaRecords, AreEncodedAsTheyAreDescribed) {
  records::QuotaMode mode;
  mode.set_epoch(3);
  mode.set_state(records::QuotaMode::ON);
  EXPECT_EQ(to_hex(mode.SerializeAsString()), "08031003");
  records::QuotaLimit limit;
  limit.set_bytes_hard(1 << 30);
  limit.set_inodes_hard(10);
  limit.set_bytes_grace_s(604'800);
  EXPECT_EQ(to_hex(limit.SerializeAsString()),
            "0880808080041"
            "80a2880f524");
  records::QuotaGrace grace;
  grace.set_bytes_since_ns(1);
  EXPECT_EQ(to_hex(grace.SerializeAsString()), "090100000000000000");
}

TEST(QuotaKeys, AreFoundAgain) {
  const FsId fs{7};
  const auto limit = parse_quota_key(fs, kv::keys::quota_limit(fs, 1, 1000));
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->part, QuotaKey::Part::kLimit);
  EXPECT_EQ(limit->subject, kUser);
  const auto base = parse_quota_key(fs, kv::keys::usage_base(fs, 5, 2, 100));
  ASSERT_TRUE(base);
  EXPECT_EQ(base->epoch, 5U);
  EXPECT_EQ(base->subject, kGroup);
  const auto slot = parse_quota_key(fs, kv::keys::usage_slot(fs, 5, MountId{9}, 3));
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->mount, MountId{9});
  EXPECT_EQ(slot->slot, 3U);
  EXPECT_EQ(parse_quota_key(fs, kv::keys::quota_mode(fs))->part, QuotaKey::Part::kMode);
}

TEST(QuotaKeys, OthersAreNone) {
  const FsId fs{7};
  EXPECT_FALSE(parse_quota_key(fs, kv::keys::stamp(fs)));
  EXPECT_FALSE(parse_quota_key(fs, kv::keys::quota_table(fs)));
  EXPECT_FALSE(parse_quota_key(fs, kv::keys::quota_mode(fs) + "x"));
  EXPECT_FALSE(parse_quota_key(fs, kv::keys::quota_limits(fs)));
  EXPECT_FALSE(parse_quota_key(fs, kv::keys::quota_limit(fs, 9, 1)));  // kind 9
  EXPECT_FALSE(parse_quota_key(FsId{8}, kv::keys::quota_mode(fs)));
}

}  // namespace
}  // namespace symnas::fs
