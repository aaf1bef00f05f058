#include "fsal_cluster/state/lock_waits.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "fsal_cluster/state/nlm_client.h"

namespace symnas::fs {
namespace {

constexpr FsId kFs{7};
const NlmClient kHost{"10.0.0.2", "10.0.0.1", "vm1"};

LockWait nlm_wait(const std::string& svid, std::uint64_t start, std::int32_t life = 3) {
  LockWait wait;
  wait.ino = Ino{18};
  wait.generation = Generation{4};
  wait.owner = {LockProtocol::kNlm, identity_of(kHost), svid};
  wait.range = {start, start + 9, LockMode::kExclusive};
  wait.nsm_state = life;
  wait.export_id = 5;
  return wait;
}

std::string key_of(const LockWait& wait) { return lock_wait_key(kFs, "v1", wait); }

TEST(LockWaitsTest, AKeySaysWhoWaitsForWhat) {
  const LockWait wait = nlm_wait(std::string("\0\0\0\1oh", 6), 16);
  EXPECT_EQ(to_hex(key_of(wait)),
            "662f000000077751"
            "0000000000000012"
            "6e"
            "000000027631" +
                to_hex(std::string("\0\0\0\x15", 4) + wait.owner.client + wait.owner.owner) +
                "0000000000000010"
                "0000000000000019");
}

TEST(LockWaitsTest, ARecordIsWhatTheFormatSays) {
  LockWait wait = nlm_wait("s", 16);
  wait.owner.client = "c";
  const std::string record = to_wait_record("v1", wait);
  EXPECT_EQ(to_hex(record),
            "0812"
            "1004"
            "1a027631"
            "2001"
            "2a0163"
            "320173"
            "3810"
            "4019"
            "4801"
            "5003"
            "5805");
  const auto found = parse_wait({"k", record, Revision{1}, Revision{1}, 1}, "v1");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, wait);
}

TEST(LockWaitsTest, OtherVnfssAndWhatIsNoRecordAreNotTaken) {
  const std::string record = to_wait_record("v1", nlm_wait("s", 0));
  const auto other = parse_wait({"k", record, Revision{1}, Revision{1}, 1}, "v2");
  ASSERT_TRUE(other);
  EXPECT_FALSE(*other);
  EXPECT_FALSE(parse_wait({"k", "\x0f", Revision{1}, Revision{1}, 1}, "v1"));
}

TEST(LockWaitsTest, WhatIsLeftKeepsTheOrderOfWaiting) {
  LockWaits waits;
  const LockWait first = nlm_wait("b", 0);
  const LockWait second = nlm_wait("a", 0);
  waits.load(key_of(second), second, Revision{9});
  waits.load(key_of(first), first, Revision{8});
  EXPECT_EQ(waits.left(), (std::vector<LockWait>{first, second}));
  EXPECT_FALSE(waits.begin(key_of(first), first)) << "its record is there";
  EXPECT_EQ(waits.left(), std::vector<LockWait>{second});
}

TEST(LockWaitsTest, AnEndedWaitIsErasedUnlessItBeginsAgain) {
  LockWaits waits;
  const LockWait wait = nlm_wait("a", 0);
  EXPECT_TRUE(waits.begin(key_of(wait), wait));
  EXPECT_FALSE(waits.begin(key_of(wait), wait));
  waits.end(key_of(wait));
  ASSERT_EQ(waits.ended(9).size(), 1U);
  EXPECT_EQ(waits.ended(9).front().second, wait.ino);
  EXPECT_TRUE(waits.begin(key_of(wait), wait));
  EXPECT_FALSE(waits.is_ended(key_of(wait)));
  waits.end(key_of(wait));
  waits.erased(key_of(wait));
  EXPECT_FALSE(waits.any_ended());
  EXPECT_TRUE(waits.begin(key_of(wait), wait));
}

TEST(LockWaitsTest, WhatIsNotRecordedIsNotErased) {
  LockWaits waits;
  const LockWait wait = nlm_wait("a", 0);
  waits.end(key_of(wait));
  EXPECT_FALSE(waits.any_ended());
  EXPECT_TRUE(waits.begin(key_of(wait), wait));
  waits.not_recorded(key_of(wait));
  EXPECT_TRUE(waits.is_ended(key_of(wait))) << "a record of before may be there";
}

TEST(LockWaitsTest, ARecordOfAnotherLifeIsPutAgain) {
  LockWaits waits;
  const LockWait wait = nlm_wait("a", 0, 3);
  waits.load(key_of(wait), wait, Revision{9});
  LockWait reborn = wait;
  reborn.nsm_state = 5;
  ASSERT_EQ(key_of(reborn), key_of(wait));
  EXPECT_TRUE(waits.begin(key_of(reborn), reborn));
  EXPECT_FALSE(waits.begin(key_of(reborn), reborn));
  EXPECT_EQ(waits.since(key_of(reborn)), Revision{9});
}

TEST(LockWaitsTest, ANoticeEndsTheWaitsOfFormerLives) {
  LockWaits waits;
  for (const std::int32_t life : {3, 5}) {
    const LockWait wait = nlm_wait(std::to_string(life), 0, life);
    waits.load(key_of(wait), wait, Revision{life});
  }
  EXPECT_EQ(waits.left_of_nlm(kHost.address, 5),
            std::vector<std::string>{key_of(nlm_wait("3", 0))});
  EXPECT_EQ(waits.left_of_nlm(kHost.address, std::nullopt).size(), 2U);
  EXPECT_TRUE(waits.left_of_nlm("10.0.0.20", std::nullopt).empty());
}

}  // namespace
}  // namespace symnas::fs
