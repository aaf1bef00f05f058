#include "fsal_cluster/state/lock_orders.h"

#include <gtest/gtest.h>

#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

constexpr FsId kFs{7};
const LockOwner kAnna{LockProtocol::kNfs4, "client a", "anna"};

kv::KeyValue order(const std::string& vnfs, std::int64_t revision,
                   records::LockOrder::Kind kind = records::LockOrder::CLEAR) {
  records::LockOrder record;
  record.set_kind(kind);
  record.set_lock_revision(4);
  return {lock_order_key(kFs, lock_key(kFs, Ino{18}, vnfs, kAnna)), record.SerializeAsString(),
          Revision{revision}, Revision{revision}, 1};
}

TEST(LockOrdersTest, OnlyThoseOfItsVnfsAreTold) {
  env::ManualClock clock;
  LockOrders orders(clock, kFs, "v1");
  orders.on_image({order("v1", 10), order("v2", 10)}, Revision{20});
  const auto told = orders.wait(0);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].ino, Ino{18});
  EXPECT_EQ(told[0].owner, kAnna);
  EXPECT_EQ(told[0].lock_revision, Revision{4});
  EXPECT_EQ(told[0].revision, Revision{10});
}

TEST(LockOrdersTest, WhatIsDoneIsNotToldAgainUntilItIsOrderedAgain) {
  env::ManualClock clock;
  LockOrders orders(clock, kFs, "v1");
  orders.on_events({{false, order("v1", 10)}}, Revision{10});
  orders.done(orders.wait(0).at(0));
  EXPECT_TRUE(orders.wait(0).empty());
  orders.on_events({{true, order("v1", 11)}}, Revision{11});
  orders.on_events({{false, order("v1", 12)}}, Revision{12});
  EXPECT_EQ(orders.wait(0).size(), 1u);
}

TEST(LockOrdersTest, AnOrderThatIsTakenBackIsNone) {
  env::ManualClock clock;
  LockOrders orders(clock, kFs, "v1");
  orders.on_events({{false, order("v1", 10)}}, Revision{10});
  const LockOrder given = orders.wait(0).at(0);
  orders.on_events({{true, order("v1", 11)}}, Revision{11});
  EXPECT_TRUE(orders.wait(0).empty());
  EXPECT_FALSE(orders.is_valid(given));
  orders.on_events({{false, order("v1", 12)}}, Revision{12});
  EXPECT_FALSE(orders.is_valid(given)) << "it was given anew";
  orders.on_lost();
  EXPECT_TRUE(orders.wait(0).empty());
}

TEST(LockOrdersTest, OrdersToClearAreValidForAWhileThatTheMountItselfMeasures) {
  env::ManualClock clock;
  LockOrders orders(clock, kFs, "v1");
  orders.on_events({{false, order("v1", 10)}}, Revision{10});
  const LockOrder given = orders.wait(0).at(0);
  EXPECT_TRUE(orders.is_valid(given));
  clock.advance_ns(kLockOrderValidNs - 1);
  EXPECT_TRUE(orders.is_valid(given));
  clock.advance_ns(1);
  EXPECT_FALSE(orders.is_valid(given));
  EXPECT_FALSE(orders.is_valid(orders.wait(0).at(0)));
}

TEST(LockOrdersTest, OfUnknownAgeOnlyConflictsAreValid) {
  env::ManualClock clock;
  LockOrders orders(clock, kFs, "v1");
  orders.on_image({order("v1", 10)}, Revision{20});
  EXPECT_FALSE(orders.is_valid(orders.wait(0).at(0)));
  orders.on_image({order("v1", 10, records::LockOrder::CONFLICT)}, Revision{20});
  EXPECT_TRUE(orders.is_valid(orders.wait(0).at(0)));
}

TEST(LockOrdersTest, AConflictTellsWhatIsWantedOrAllOfTheFileIsMeant) {
  env::ManualClock clock;
  LockOrders orders(clock, kFs, "v1");
  kv::KeyValue given = order("v1", 10, records::LockOrder::CONFLICT);
  orders.on_image({given}, Revision{20});
  EXPECT_EQ(orders.wait(0).at(0).wanted, kWholeFile);
  records::LockOrder record;
  record.set_kind(records::LockOrder::CONFLICT);
  record.set_start(0);
  record.set_end(0);
  given.value = record.SerializeAsString();
  orders.on_image({given}, Revision{20});
  EXPECT_EQ(orders.wait(0).at(0).wanted, (LockRange{0, 0, LockMode::kExclusive}));
}

TEST(LockOrdersTest, WhoWaitsIsStopped) {
  env::ManualClock clock;
  LockOrders orders(clock, kFs, "v1");
  orders.stop();
  EXPECT_TRUE(orders.stopping());
  EXPECT_TRUE(orders.wait(60'000).empty());
}

}  // namespace
}  // namespace symnas::fs
