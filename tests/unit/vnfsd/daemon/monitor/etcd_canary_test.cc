#include "vnfsd/daemon/monitor/etcd_canary.h"

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class EtcdCanaryTest : public HeadWorld {
 protected:
  std::stop_source end;
  EtcdCanary canary{head, end.get_token()};
};

TEST_F(EtcdCanaryTest, CountsReadsThatAreAnswered) {
  EXPECT_FALSE(canary.sight().up) << "nobody knows yet";
  canary.look();
  canary.look();
  const metrics::EtcdSight sight = canary.sight();
  EXPECT_TRUE(sight.up);
  EXPECT_EQ(sight.errors, 0u);
  std::uint64_t reads = 0;
  for (const std::uint64_t count : sight.reads_s->counts()) reads += count;
  EXPECT_EQ(reads, 2u);
}

TEST_F(EtcdCanaryTest, WhatWasSaidBecomesOld) {
  canary.look();
  EXPECT_EQ(canary.sight().answer_age_s, 0);
  pass_ms(4'500);
  EXPECT_EQ(canary.sight().answer_age_s, 4.5);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
