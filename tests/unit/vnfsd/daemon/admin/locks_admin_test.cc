#include "vnfsd/daemon/admin/locks_admin.h"

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class LocksAdminTest : public HeadWorld {
 protected:
  void SetUp() override { builder.basics().vnfs1(); }
  LocksAdmin admin{head, reader};
};

TEST_F(LocksAdminTest, WhereNothingIsLockedNothingIsShown) {
  const auto shown = admin.locks({});
  ASSERT_TRUE(shown);
  EXPECT_TRUE((*shown)["locks"].empty());
}

TEST_F(LocksAdminTest, WhatDoesNotExistIsNotLookedAt) {
  EXPECT_EQ(code_of(admin.locks({.filesystem = "none"})), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(admin.locks({.vnfs = "none"})), ErrorCode::kNotFound);
}

TEST_F(LocksAdminTest, NotAllLocksAreClearedAtOnce) {
  EXPECT_EQ(code_of(admin.clear_locks({}, Mode::kCommit)), ErrorCode::kInvalidArgument);
}

TEST_F(LocksAdminTest, NothingToClearIsSaid) {
  const auto done = admin.clear_locks({.client = "10.0.0.7"}, Mode::kCommit);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, "no lock matches: nothing to do");
}

TEST_F(LocksAdminTest, NothingIsDoneBeforeTheHeadIsRegistered) {
  reader.ready = false;
  EXPECT_EQ(code_of(admin.locks({})), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
