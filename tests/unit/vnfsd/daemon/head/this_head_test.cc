#include "vnfsd/daemon/head/this_head.h"

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/plans/admission.h"

namespace symnas::vnfsd::daemon {
namespace {

class ThisHeadTest : public HeadWorld {
 protected:
  bool commits(const ClusterView& seen) {
    kv::Txn txn;
    head.compare_admission(seen, txn);
    const auto done = kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs);
    EXPECT_TRUE(done);
    return done && done->succeeded;
  }
};

TEST_F(ThisHeadTest, IsTheHeadOfItsName) {
  EXPECT_TRUE(head.check_not_removed(builder.view()));
  EXPECT_TRUE(commits(builder.view()));
}

TEST_F(ThisHeadTest, OneThatWasRemovedIsNone) {
  const ClusterView before = builder.view();
  builder.put(kv::keys::kRemoved + "c1n3", records::RemovedHeadRecord().SerializeAsString());
  const Status refused = head.check_not_removed(builder.view());
  EXPECT_EQ(code_of(refused), ErrorCode::kForeign);
  EXPECT_NE(refused.error().message.find("was removed from the cluster"), std::string::npos);
  EXPECT_FALSE(commits(before));
}

TEST_F(ThisHeadTest, AnotherMachineWasInvited) {
  const ClusterView before = builder.view();
  builder.apply([](const ClusterView&) { return plan_head_admit("c1n3", "new", 1); });
  const Status refused = head.check_not_removed(builder.view());
  EXPECT_EQ(code_of(refused), ErrorCode::kForeign);
  EXPECT_NE(refused.error().message.find("another machine"), std::string::npos);
  EXPECT_FALSE(commits(before));
}

TEST_F(ThisHeadTest, ABootThatWasFencedComesInUnderNoName) {
  const ClusterView before = builder.view();
  builder.put(kv::keys::kFencedBoots + "boot", records::FencedBootRecord().SerializeAsString());
  const Status refused = head.check_not_removed(builder.view());
  EXPECT_EQ(code_of(refused), ErrorCode::kForeign);
  EXPECT_NE(refused.error().message.find("reboot it"), std::string::npos);
  EXPECT_FALSE(commits(before));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
