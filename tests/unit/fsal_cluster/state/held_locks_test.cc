#include "fsal_cluster/state/held_locks.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

const NlmClient kHost{"10.0.0.202", "10.0.0.101", "vm1"};
const NlmClient kOtherVip{"10.0.0.202", "10.0.0.102", "vm1"};
const HeldLocks::Key kAnna{Ino{7}, {LockProtocol::kNfs4, "client a", "anna"}};
const HeldLocks::Key kProcess{Ino{7}, {LockProtocol::kNlm, identity_of(kHost), "1"}};
const ClientLife kOneLife{0, "11111111"};
const ClientLife kNextLife{0, "22222222"};

LockRange exclusive(std::uint64_t start, std::uint64_t end) {
  return {start, end, LockMode::kExclusive};
}
void grant(HeldLocks& locks, const HeldLocks::Key& key, const LockRange& range,
           const ClientLife& life, std::int64_t wall_ns) {
  locks.grant(key, range, life, locks.kept_after(key, life, wall_ns));
}

TEST(HeldLocksTest, WhatIsGrantedIsHeldSinceTheFirstLockOfALife) {
  HeldLocks locks;
  grant(locks, kAnna, exclusive(0, 9), kOneLife, 100);
  grant(locks, kAnna, exclusive(20, 29), kOneLife, 200);
  EXPECT_EQ(locks.held(kAnna), (std::vector{exclusive(0, 9), exclusive(20, 29)}));
  EXPECT_EQ(locks.kept(kAnna).life, kOneLife);
  EXPECT_EQ(locks.kept(kAnna).since_ns, 100);
  EXPECT_TRUE(locks.held_in(kAnna, kNextLife).empty());
  grant(locks, kAnna, exclusive(5, 6), kNextLife, 300);
  EXPECT_EQ(locks.held(kAnna), std::vector{exclusive(5, 6)});
  EXPECT_EQ(locks.kept(kAnna).since_ns, 300);
}

TEST(HeldLocksTest, NothingIsKeptOfWhoHoldsNothing) {
  HeldLocks locks;
  grant(locks, kAnna, exclusive(0, 9), kOneLife, 100);
  locks.hold(kAnna, {});
  EXPECT_EQ(locks.size(), 0u);
  EXPECT_EQ(locks.kept(kAnna).life, ClientLife{});
  EXPECT_EQ(locks.kept(kAnna).since_ns, 0);
}

TEST(HeldLocksTest, WhatIsLoadedIsUnclaimedUntilItsClientComesBackForIt) {
  HeldLocks locks;
  locks.load(kAnna, {{exclusive(0, 9), exclusive(20, 29)}, kOneLife, 100});
  locks.load(kProcess, {{exclusive(40, 49)}, {3, ""}, 100});
  EXPECT_FALSE(locks.is_unclaimed(kProcess, exclusive(40, 49))) << "NLM has no lease";
  locks.claim(kAnna, exclusive(0, 9));
  EXPECT_FALSE(locks.is_unclaimed(kAnna, exclusive(0, 19)));
  EXPECT_TRUE(locks.is_unclaimed(kAnna, exclusive(9, 20)));
  EXPECT_EQ(locks.claimed(kAnna), std::vector{exclusive(0, 9)});
  EXPECT_EQ(locks.unclaimed_of("client a"), std::vector{kAnna});
  locks.hold(kAnna, {exclusive(0, 9)});
  EXPECT_TRUE(locks.unclaimed_of("client a").empty()) << "it has unlocked the rest";
}

TEST(HeldLocksTest, AnNlmClientIsKnownWhileItHoldsSomething) {
  HeldLocks locks;
  HeldLocks::Key other = kProcess;
  other.second.owner = "2";
  for (const HeldLocks::Key& key : {kProcess, other}) locks.hold(key, {exclusive(0, 9)});
  locks.hold(kAnna, {exclusive(10, 19)});
  EXPECT_EQ(locks.nlm_clients(), std::set<NlmClient>{kHost});
  locks.hold(kProcess, {});
  EXPECT_TRUE(locks.has_nlm_client(kHost.address));
  EXPECT_FALSE(locks.has_nlm_client("10.0.0.20"));
  locks.hold(other, {});
  EXPECT_FALSE(locks.has_nlm_client(kHost.address));
}

TEST(HeldLocksTest, LocksOfAFormerLifeAreFoundThroughWhateverVip) {
  HeldLocks locks;
  EXPECT_FALSE(locks.has_former(kHost, 3));
  grant(locks, kProcess, exclusive(0, 9), {3, ""}, 100);
  EXPECT_FALSE(locks.has_former(kOtherVip, 3));
  EXPECT_TRUE(locks.has_former(kOtherVip, 5));
  EXPECT_FALSE(locks.has_former({kHost.address, kHost.server, "vm2"}, 5));
  locks.hold(kProcess, {});
  EXPECT_FALSE(locks.has_former(kHost, 5));
}

}  // namespace
}  // namespace symnas::fs
