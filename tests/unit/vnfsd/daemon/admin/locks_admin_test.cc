#include "vnfsd/daemon/admin/locks_admin.h"

#include <nlohmann/json.hpp>

#include "fsal_cluster/state/lock_record.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/api/limits.h"

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

TEST_F(LocksAdminTest, ShowsSoManyAndSaysThatThereAreMore) {
  constexpr int kPage = 100;
  const ClusterView view = builder.view();
  const auto& filesystem = view.filesystems.begin()->second;
  const FsId id{filesystem.record.fsid()};
  const auto record = [&](std::uint64_t number) {
    const fs::LockOwner owner{fs::LockProtocol::kNfs4, "client " + std::to_string(number), "o"};
    const Ino ino{number + 1};
    const fs::RecordedLock lock{{{0, 9, fs::LockMode::kExclusive}}, {}, 1};
    return kv::put(fs::lock_key(id, ino, "vnfs1", owner),
                   fs::to_record(ino, "vnfs1", owner, lock).SerializeAsString());
  };
  for (std::uint64_t number = 0; number < api::kLocksListed; number += kPage) {
    kv::Txn txn;
    for (int i = 0; i < kPage; ++i) txn.success.push_back(record(number + i));
    ASSERT_TRUE(kv::txn_blocking(builder.store, txn, kTestDeadlineMs));
  }
  nlohmann::json shown = *admin.locks({});
  EXPECT_EQ(shown["locks"].size(), api::kLocksListed);
  EXPECT_EQ(shown["more"], false);
  kv::Txn one_more;
  one_more.success.push_back(record(api::kLocksListed));
  ASSERT_TRUE(kv::txn_blocking(builder.store, one_more, kTestDeadlineMs));
  shown = *admin.locks({});
  EXPECT_EQ(shown["locks"].size(), api::kLocksListed);
  EXPECT_EQ(shown["more"], true);
  // What matches counts, not what there is.
  const std::string last = "client " + std::to_string(api::kLocksListed);
  shown = *admin.locks({.client = last});
  ASSERT_EQ(shown["locks"].size(), 1u);
  EXPECT_EQ(shown["locks"][0]["client"], last);
  EXPECT_EQ(shown["more"], false);
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
