#include "fsal_cluster/check/quota_usage.h"

#include <gtest/gtest.h>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/usage_record.h"

namespace symnas::fs::check {
namespace {

const FsId kFs{7};

records::Inode inode(std::uint32_t epoch) {
  records::Inode out;
  out.set_uid(1);
  out.set_gid(2);
  out.set_used_blocks(8);
  out.set_usage_epoch(epoch);
  return out;
}
kv::KeyValue mode(records::QuotaMode::State state) {
  records::QuotaMode record;
  record.set_epoch(3);
  record.set_state(state);
  return {kv::keys::quota_mode(kFs), record.SerializeAsString(), {}, {}, 1};
}
kv::KeyValue slot(std::int64_t blocks, std::int64_t inodes, std::uint32_t epoch = 3) {
  Usages usages;
  add(usages, Subjects{1, 2, 0, 0}, {blocks, inodes});
  return {kv::keys::usage_slot(kFs, epoch, MountId{5}, 0), encode_usage(usages), {}, {}, 1};
}

class QuotaUsageTest : public testing::Test {
 protected:
  Findings findings;
  QuotaUsage usage{kFs, findings};
};

TEST_F(QuotaUsageTest, WhatAddsUpIsFine) {
  usage.take_inode(Ino{17}, inode(3));
  usage.take_inode(Ino{18}, inode(3));
  EXPECT_TRUE(usage.take(mode(records::QuotaMode::ON)));
  EXPECT_TRUE(usage.take(slot(16, 2)));
  EXPECT_TRUE(usage.take(slot(100, 1, 2)));  // an earlier epoch means nothing
  usage.finish();
  EXPECT_EQ(findings.total(), 0U);
}

TEST_F(QuotaUsageTest, EverySubjectThatDiffersIsNamed) {
  usage.take_inode(Ino{17}, inode(3));
  usage.take(mode(records::QuotaMode::COUNTING));
  usage.take(slot(9, 1));
  usage.finish();
  ASSERT_EQ(findings.total(), 3U);  // filesystem, user, group
  EXPECT_NE(findings.kept()[1].text.find("user 1: 9 blocks and 1 inodes are recorded"),
            std::string::npos)
      << findings.kept()[1].text;
}

TEST_F(QuotaUsageTest, UncountedInodesAreFoundWhenLimitsHold) {
  usage.take_inode(Ino{17}, inode(0));
  usage.take_inode(Ino{18}, inode(3));
  usage.take(mode(records::QuotaMode::ON));
  usage.take(slot(8, 1));
  usage.finish();
  ASSERT_EQ(findings.total(), 1U);
  EXPECT_NE(findings.kept()[0].text.find("1 inodes are not counted"), std::string::npos);
}

TEST_F(QuotaUsageTest, NothingCountsWhileQuotasAreOff) {
  usage.take_inode(Ino{17}, inode(3));
  usage.take(mode(records::QuotaMode::OFF));
  usage.finish();
  EXPECT_EQ(findings.total(), 0U);
}

TEST_F(QuotaUsageTest, KeysThatAreNoneAreRefused) {
  EXPECT_FALSE(usage.take({kv::keys::quota_table(kFs, 'Z'), "", {}, {}, 1}));
  EXPECT_TRUE(usage.take({slot(1, 1).key, "\xff", {}, {}, 1}));
  EXPECT_EQ(findings.total(), 1U);
}

}  // namespace
}  // namespace symnas::fs::check
