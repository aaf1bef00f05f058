#include "fsal_cluster/state/late_unlocks.h"

#include <gtest/gtest.h>

#include "fsal_cluster/state/nlm_client.h"

namespace symnas::fs {
namespace {

const std::string kAddress = "10.0.0.202";
const LateUnlocks::Key kAnna{Ino{7}, {LockProtocol::kNfs4, "client a", "anna"}};
const LateUnlocks::Key kProcess{
    Ino{8}, {LockProtocol::kNlm, identity_of({kAddress, "10.0.0.101", "vm1"}), "1"}};

TEST(LateUnlocksTest, WhatIsRecordedIsLateNoMore) {
  LateUnlocks late;
  EXPECT_FALSE(late.begin(kAnna));
  late.add(kAnna);
  EXPECT_TRUE(late.any());
  EXPECT_TRUE(late.begin(kAnna));
  EXPECT_FALSE(late.any()) << "nobody else has to record it";
  EXPECT_TRUE(late.owes(kAnna));
  late.end({&kAnna, 1}, {});
  EXPECT_FALSE(late.owes(kAnna));
}

TEST(LateUnlocksTest, WhatCouldNotBeRecordedIsLateAgain) {
  LateUnlocks late;
  late.add(kAnna);
  late.add(kProcess);
  EXPECT_TRUE(late.begin(kAnna));
  late.end({&kAnna, 1}, fail(ErrorCode::kNoSpace, "quota"));
  EXPECT_EQ(late.all(), (std::vector{kAnna, kProcess}));
}

TEST(LateUnlocksTest, TheTransactionOfOneKeySaysNothingOfAnother) {
  LateUnlocks late;
  late.add(kAnna);
  late.add(kProcess);
  EXPECT_TRUE(late.begin(kAnna));
  EXPECT_TRUE(late.begin(kProcess));
  EXPECT_EQ(late.all(), (std::vector{kAnna, kProcess})) << "they may yet be late again";
  late.end({&kProcess, 1}, {});
  EXPECT_TRUE(late.owes(kAnna));
  EXPECT_FALSE(late.owes(kProcess));
}

TEST(LateUnlocksTest, WhatIsUnlockedMeanwhileStaysLate) {
  LateUnlocks late;
  late.add(kAnna);
  EXPECT_TRUE(late.begin(kAnna));
  late.add(kAnna);
  late.end({&kAnna, 1}, {});
  EXPECT_TRUE(late.begin(kAnna));
}

TEST(LateUnlocksTest, TheyAreFoundByInodeAndByNlmClient) {
  LateUnlocks late;
  late.add(kAnna);
  EXPECT_EQ(late.one_on(Ino{7}), kAnna);
  EXPECT_EQ(late.one_on(Ino{8}), std::nullopt);
  EXPECT_FALSE(late.owes_of(kAddress));
  late.add(kProcess);
  EXPECT_EQ(late.of_nlm_client(kAddress), std::vector{kProcess});
  EXPECT_TRUE(late.begin(kProcess));
  EXPECT_TRUE(late.owes_of(kAddress)) << "it is being recorded";
  EXPECT_TRUE(late.of_nlm_client(kAddress).empty());
}

}  // namespace
}  // namespace symnas::fs
