#include "fsal_cluster/state/ino_lease.h"

#include <gtest/gtest.h>

#include <set>

#include "fsal_cluster/types/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

TEST(InoLeaseTest, OneTransactionServesARange) {
  World world;
  InoLease lease(world.session(), world.fs());
  world.session().forget();
  const Ino first = *lease.next();
  for (std::uint64_t i = 1; i < kInoLeaseCount; ++i)
    ASSERT_EQ(*lease.next(), Ino{first.value() + i});
  EXPECT_EQ(world.session().mutations().size(), 1u);
  ASSERT_TRUE(lease.next());
  EXPECT_EQ(world.session().mutations().size(), 2u);
}

TEST(InoLeaseTest, TwoLeasesNeverShareANumber) {
  World world;
  InoLease a(world.session(), world.fs());
  InoLease b(world.session(), world.fs());
  world.session().interrupt([&] { ASSERT_TRUE(b.next()); });  // between a's read and its commit
  world.session().forget();
  std::set<Ino> seen;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(seen.insert(*a.next()).second);
    EXPECT_TRUE(seen.insert(*b.next()).second);
  }
  EXPECT_EQ(world.session().conflicts(), 1);
}

TEST(InoLeaseTest, LostRepliesLeaseOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    InoLease a(world.session(), world.fs());
    world.fail_next_commit(fault);
    const auto first = a.next();
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_TRUE(world.faults_met());
    InoLease b(world.session(), world.fs());
    EXPECT_EQ(*b.next(), Ino{first->value() + kInoLeaseCount});
  }
}

}  // namespace
}  // namespace symnas::fs
