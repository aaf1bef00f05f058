#include "fsal_cluster/ops/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "fsal_cluster/ops/unlink.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

class LinkTest : public testing::Test {
 protected:
  ErrorCode error_of(const Handle& target, const std::string& name,
                     const Credentials& who = kRoot) {
    const auto done = link(world.context(), who, target, world.root(), name);
    return done ? ErrorCode::kInternal : done.error().code;
  }
  World world;
  Handle file = world.create(world.root(), "f");
};

TEST_F(LinkTest, ConflictSetAndWrites) {
  world.session().forget();
  ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "g"));
  EXPECT_THAT(world.compares(),
              ElementsAre("bucket(1) absent", "inode(1) unchanged", "inode(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put bucket(1)", "put inode(17)", "touch times(1)"));
}

TEST_F(LinkTest, BothNamesAreOneFile) {
  const Attributes before = world.attributes(file);
  ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "g"));
  const Attributes after = world.attributes(file);
  EXPECT_EQ(after.nlink, 2u);
  EXPECT_GT(after.ctime_ns, before.ctime_ns);
  EXPECT_EQ(after.mtime_ns, before.mtime_ns);
}

// The record as a head with a fast clock writes it, before this mount's watch shows the change.
TEST_F(LinkTest, ItsTimeLiesAboveTheFilesLast) {
  constexpr std::int64_t kAheadNs = 3'600'000'000'000;
  const auto read = kv::range_blocking(
      world.store(), kv::single_key(kv::keys::inode(world.fs(), file.ino)), 1, 1000);
  ASSERT_TRUE(read && read->kvs.size() == 1);
  records::Inode inode;
  ASSERT_TRUE(inode.ParseFromString(read->kvs[0].value));
  inode.set_ctime_ns(inode.ctime_ns() + kAheadNs);
  kv::Txn txn;
  txn.success = {kv::put(read->kvs[0].key, inode.SerializeAsString())};
  ASSERT_TRUE(kv::txn_blocking(world.store(), std::move(txn), 1000));
  ASSERT_TRUE(world.session().barrier());
  ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "g"));
  EXPECT_GT(world.attributes(file).ctime_ns, inode.ctime_ns());
}

TEST_F(LinkTest, Refusals) {
  EXPECT_EQ(error_of(file, "f"), ErrorCode::kAlreadyExists);
  EXPECT_EQ(error_of(world.mkdir(world.root(), "d"), "g"), ErrorCode::kIsDirectory);
  EXPECT_EQ(error_of(Handle{world.fs(), Ino{99}, Generation{1}}, "g"), ErrorCode::kStale);
  world.chmod(world.root(), 0755);
  EXPECT_EQ(error_of(file, "g", kAlice), ErrorCode::kPermission);
}

TEST_F(LinkTest, AFileHasAtMostKLinkMaxNames) {
  Node full{Ino{17}, {}, Revision{1}};
  full.record.set_type(1);
  full.record.set_nlink(kLinkMax);
  Place place;
  place.name = "g";
  place.directory.node.record.set_mode(0777);
  const Status checked = check_link(kRoot, full, place);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kTooManyLinks);
}

TEST_F(LinkTest, AFileWithoutANameGetsNone) {
  world.open_files().opened(file.ino);
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(error_of(file, "g"), ErrorCode::kStale);
}

TEST_F(LinkTest, ConflictsWithTheUnlinkOfTheLastName) {
  world.session().forget();
  world.session().interrupt(
      [&] { ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f")); });
  EXPECT_EQ(error_of(file, "g"), ErrorCode::kStale);
  EXPECT_EQ(world.session().conflicts(), 1);
  EXPECT_TRUE(world.names(world.root()).empty());
}

TEST_F(LinkTest, ConflictsWithAnotherLink) {
  world.session().forget();
  world.session().interrupt(
      [&] { ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "h")); });
  ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "g"));
  EXPECT_EQ(world.session().conflicts(), 1);
  EXPECT_EQ(world.attributes(file).nlink, 3u);
}

TEST(LinkLostReplyTest, HappensOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    const Handle file = world.create(world.root(), "f");
    world.fail_next_commit(fault);
    ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "g"));
    EXPECT_TRUE(world.faults_met());
    EXPECT_EQ(world.attributes(file).nlink, 2u);
  }
}

}  // namespace
}  // namespace symnas::fs
