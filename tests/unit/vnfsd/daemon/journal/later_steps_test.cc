#include "vnfsd/daemon/journal/later_steps.h"

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/journal/tenure.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {
namespace {

class LaterStepsTest : public HeadWorld {
 protected:
  void SetUp() override {
    records::TenureRecord tenure;
    tenure.set_epoch(7);
    tenure.set_head("c1n3");
    kv::Txn txn;
    txn.success.push_back(put_tenure("vnfs1", tenure));
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
    instance::InstanceSnapshot& serving = instances["vnfs1"];
    serving.phase = instance::Phase::kServing;
    serving.epoch = 7;
  }
  records::TenureRecord tenure() {
    const auto tenures = read_history(builder.store, "vnfs1", kTestDeadlineMs);
    EXPECT_TRUE(tenures && tenures->size() == 1);
    return tenures->front();
  }
  Revision revision() {
    const auto read = kv::range_blocking(
        builder.store, kv::single_key(kv::keys::history("vnfs1", Epoch(7))), 0, kTestDeadlineMs);
    EXPECT_TRUE(read && read->kvs.size() == 1);
    return read->kvs[0].mod_revision;
  }
  std::map<std::string, instance::InstanceSnapshot> instances;
  LaterSteps later{head};
};

TEST_F(LaterStepsTest, NothingIsWrittenBeforeTheFirstRequest) {
  const Revision before = revision();
  later.look(instances);
  EXPECT_EQ(revision(), before);
}

TEST_F(LaterStepsTest, WritesWhatIsNewsByTheWallClock) {
  instances["vnfs1"].first_request_ns = clock.mono_ns();
  pass_ms(5);
  later.look(instances);
  ASSERT_EQ(tenure().later_size(), 1);
  EXPECT_EQ(tenure().later(0).at_ns(), clock.wall_ns() - 5'000'000);
  const Revision written = revision();
  later.look(instances);
  EXPECT_EQ(revision(), written) << "it is no news";
  instances["vnfs1"].last_reclaim_ns = clock.mono_ns();
  later.look(instances);
  EXPECT_EQ(tenure().later_size(), 2);
}

TEST_F(LaterStepsTest, WhatFailsIsTriedAgain) {
  instances["vnfs1"].first_request_ns = clock.mono_ns();
  // The write: a read that is lost is sent again at once.
  faults->push(kv::TxnFault::Kind::kRequestLost,
               [](const kv::Txn& txn) { return !txn.compares.empty(); });
  later.look(instances);
  EXPECT_EQ(tenure().later_size(), 0);
  later.look(instances);
  EXPECT_EQ(tenure().later_size(), 1);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
