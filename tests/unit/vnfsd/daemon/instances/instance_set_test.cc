// Which supervisors there are for which records; without instances: nothing can be claimed.
#include "vnfsd/daemon/instances/instance_set.h"

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

// Refuses everything.
class RefusingHost final : public instance::Host {
 public:
  Result<instance::InstancePlan> prepare(const std::string&) override { return refuse(); }
  void prepared(const std::string&) override {}
  Result<instance::InstancePlan> claim(const std::string&, std::optional<Epoch>) override {
    return refuse();
  }
  Result<instance::InstancePlan> plan_of(const std::string&,
                                         const instance::InstanceState&) override {
    return refuse();
  }
  Status fence(const std::string&) override { return {}; }
  Status release(const std::string&, const instance::Farewell&) override { return {}; }
  void ended(const std::string&, Epoch, const std::string&) override {}
  void vips_taken(const std::string&, const std::string&) override {}
  Result<std::vector<std::pair<std::string, Epoch>>> earlier(const std::string&) override {
    return std::vector<std::pair<std::string, Epoch>>{};
  }
  Result<std::optional<Revision>> tells_exports(const instance::InstancePlan&) override {
    return std::optional<Revision>{};
  }
  Status exports_told(const instance::InstancePlan&, Revision, const Status& taken) override {
    return taken;
  }
  Status served(const std::string&, const instance::Arrival&) override { return {}; }

 private:
  static tl::unexpected<Error> refuse() { return fail(ErrorCode::kUnavailable, "not in a test"); }
};

class InstanceSetTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.head("c1n3", "10.99.0.3").basics();
    builder.vnfs1({"c1n1", "c1n3"});
  }
  void TearDown() override { set.clear(); }
  bool is_supervised() { return set.snapshots().contains("vnfs1"); }
  RefusingHost host;
  InstanceSet set{head, host};
};

TEST_F(InstanceSetTest, WhatAnotherHeadOwnsIsNotSupervised) {
  builder.owner("vnfs1", "c1n1");
  set.follow(builder.view(), {});
  EXPECT_FALSE(is_supervised());
}

TEST_F(InstanceSetTest, WhatThisHeadOwnsIsSupervised) {
  builder.owner("vnfs1", "c1n3");
  set.follow(builder.view(), {});
  EXPECT_TRUE(is_supervised());
}

TEST_F(InstanceSetTest, WhatIsOnItsWayHereIsPrepared) {
  builder.owner("vnfs1", "c1n1");
  set.follow(builder.view(), {"vnfs1"});
  EXPECT_TRUE(is_supervised());
}

TEST_F(InstanceSetTest, WhatDoesNotExistAnyMoreIsForgotten) {
  builder.owner("vnfs1", "c1n3");
  set.follow(builder.view(), {});
  ASSERT_TRUE(is_supervised());
  kv::Txn txn;
  txn.success.push_back(kv::erase(kv::keys::kOwners + std::string("vnfs1")));
  txn.success.push_back(kv::erase(kv::keys::kVnfs + std::string("vnfs1")));
  ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  set.follow(builder.view(), {});
  EXPECT_FALSE(is_supervised());
}

TEST_F(InstanceSetTest, OneThatHasNothingToKnowIsRefreshed) {
  EXPECT_TRUE(set.is_refreshed());
  set.end_instance("nothing", Epoch(1), "a test");
  set.refresh();
  EXPECT_TRUE(set.is_refreshed());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
