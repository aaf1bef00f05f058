#include "fsal_cluster/ops/create.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/lookup.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/ops/setattr.h"
#include "fsal_cluster/types/acl.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

class CreateTest : public testing::Test {
 protected:
  Result<Created> create(const std::string& name, CreateMode mode = CreateMode::kGuarded,
                         const Credentials& who = kRoot, std::uint64_t verifier = 0) {
    return fs::create(world.context(), who, world.root(), name, mode, verifier, node);
  }
  ErrorCode error_of(const Result<Created>& result) {
    return result ? ErrorCode::kInternal : result.error().code;
  }
  World world;
  NewNode node;
};

TEST_F(CreateTest, ConflictSetAndWrites) {
  world.session().forget();
  ASSERT_TRUE(create("f"));
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) absent", "inode(1) unchanged"));
  EXPECT_THAT(world.writes(),
              ElementsAre("put bucket(1)", "put inode(17)", "put token(17)", "touch times(1)"));
}

TEST_F(CreateTest, TheTokenIsKnownOnceTheNameIsThere) {
  ASSERT_TRUE(create("f"));
  EXPECT_THAT(world.data().created_inos, ElementsAre(Ino{17}));
  ASSERT_FALSE(create("f"));
  node.attributes.mtime_ns = 12345;
  ASSERT_TRUE(create("g"));
  EXPECT_THAT(world.data().created_inos, ElementsAre(Ino{17})) << "no token, nothing to erase";
}

// A recovery gives a file that has a token new times.
TEST_F(CreateTest, NoTokenWithAnMtimeOfTheClients) {
  node.attributes.mtime_ns = 12345;
  world.session().forget();
  ASSERT_TRUE(create("f"));
  EXPECT_THAT(world.writes(), ElementsAre("put bucket(1)", "put inode(17)", "touch times(1)"));
  node.attributes.mtime_ns = kServerTime;
  world.session().forget();
  ASSERT_TRUE(create("g"));
  EXPECT_THAT(world.writes(), testing::Contains("put token(18)"));
}

TEST_F(CreateTest, TheNewFileIsTheCallers) {
  node.attributes.mode = 0640;
  const auto made = create("f", CreateMode::kGuarded, kAlice);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->existed);
  EXPECT_EQ(made->attributes.uid, 1000u);
  EXPECT_EQ(made->attributes.gid, 100u);
  EXPECT_EQ(made->attributes.mode, 0640u);
  EXPECT_EQ(made->attributes.nlink, 1u);
  EXPECT_EQ(made->attributes.size_bytes, 0u);
  EXPECT_EQ(world.attributes(made->attributes.handle).change, made->attributes.change);
  const auto found = lookup(world.context(), world.root(), "f");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->handle, made->attributes.handle);
}

TEST_F(CreateTest, PreAndPostAttributesSurroundTheChange) {
  const Attributes before = world.attributes(world.root());
  const auto made = create("f");
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->directory.pre);
  EXPECT_EQ(made->directory.pre->change, before.change);
  ASSERT_TRUE(made->directory.post);
  EXPECT_EQ(made->directory.post->change, world.attributes(world.root()).change);
  EXPECT_EQ(made->directory.post->mtime_ns, world.attributes(world.root()).mtime_ns);
  EXPECT_GT(made->directory.post->change, before.change);
  EXPECT_GT(made->directory.post->mtime_ns, before.mtime_ns);
}

TEST_F(CreateTest, NoPreAttributesWhenAnotherChangeOverlaps) {
  world.session().interrupt([&] { world.create(world.root(), "other"); });
  const auto made = create("f");
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->directory.pre) << "the other create happened in between";
  ASSERT_TRUE(made->directory.post);
}

TEST_F(CreateTest, GuardedRefusesAnExistingName) {
  ASSERT_TRUE(create("f"));
  EXPECT_EQ(error_of(create("f")), ErrorCode::kAlreadyExists);
}

TEST_F(CreateTest, UncheckedUsesTheExistingFile) {
  const auto first = create("f");
  ASSERT_TRUE(first);
  node.attributes.mode = 0;
  const auto second = create("f", CreateMode::kUnchecked);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->existed);
  EXPECT_EQ(second->attributes.handle, first->attributes.handle);
  EXPECT_EQ(second->attributes.mode, 0600u) << "only a size is applied";
}

TEST_F(CreateTest, UncheckedTruncatesTheExistingFile) {
  const auto first = create("f");
  SetAttributes grow;
  grow.size_bytes = 5000;
  ASSERT_TRUE(setattr(world.context(), kRoot, first->attributes.handle, grow));
  node.attributes.size_bytes = 0;
  const auto second = create("f", CreateMode::kUnchecked);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->attributes.size_bytes, 0u);
}

TEST_F(CreateTest, UncheckedTruncateNeedsWritePermissionOnTheFile) {
  const auto first = create("f", CreateMode::kGuarded, kAlice);
  node.attributes.size_bytes = 0;
  EXPECT_EQ(error_of(create("f", CreateMode::kUnchecked, kBob)), ErrorCode::kPermission);
}

TEST_F(CreateTest, UncheckedOnADirectory) {
  world.mkdir(world.root(), "d");
  EXPECT_EQ(error_of(create("d", CreateMode::kUnchecked)), ErrorCode::kIsDirectory);
}

TEST_F(CreateTest, ExclusiveSucceedsAgainWithItsVerifierOnly) {
  const auto first = create("f", CreateMode::kExclusive, kRoot, 77);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->attributes.exclusive_verifier, 77u);
  const auto again = create("f", CreateMode::kExclusive, kRoot, 77);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(again->attributes.handle, first->attributes.handle);
  EXPECT_EQ(error_of(create("f", CreateMode::kExclusive, kRoot, 78)), ErrorCode::kAlreadyExists);
}

TEST_F(CreateTest, ExclusiveDoesNotMatchAPlainFile) {
  ASSERT_TRUE(create("f"));
  EXPECT_EQ(error_of(create("f", CreateMode::kExclusive, kRoot, 0)), ErrorCode::kAlreadyExists);
}

TEST_F(CreateTest, NeedsWriteAndSearchOnTheDirectory) {
  world.chmod(world.root(), 0755);
  EXPECT_EQ(error_of(create("f", CreateMode::kGuarded, kAlice)), ErrorCode::kPermission);
  world.chmod(world.root(), 0766);
  EXPECT_EQ(error_of(create("f", CreateMode::kGuarded, kAlice)), ErrorCode::kPermission);
}

TEST_F(CreateTest, BadNames) {
  EXPECT_EQ(error_of(create("")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of(create("..")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of(create(std::string(256, 'x'))), ErrorCode::kNameTooLong);
}

TEST_F(CreateTest, BadDirectories) {
  const Handle file = world.create(world.root(), "f");
  Handle other_generation = world.root();
  other_generation.generation = Generation{9};
  const auto in = [&](const Handle& dir) {
    return error_of(fs::create(world.context(), kRoot, dir, "x", CreateMode::kGuarded, 0, node));
  };
  EXPECT_EQ(in(file), ErrorCode::kNotDirectory);
  EXPECT_EQ(in(other_generation), ErrorCode::kStale);
  EXPECT_EQ(in(Handle{world.fs(), Ino{9999}, Generation{1}}), ErrorCode::kStale);
  EXPECT_EQ(in(Handle{FsId{99}, kRootIno, Generation{1}}), ErrorCode::kStale);
}

TEST_F(CreateTest, OnlyRootGivesFilesAway) {
  node.attributes.uid = 1001;
  EXPECT_EQ(error_of(create("f", CreateMode::kGuarded, kAlice)), ErrorCode::kNotOwner);
  const auto given = create("f", CreateMode::kGuarded, kRoot);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->attributes.uid, 1001u);
}

TEST_F(CreateTest, AGroupOfTheCallerMayBeGiven) {
  node.attributes.gid = 150;
  const auto made = create("f", CreateMode::kGuarded, kAlice);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attributes.gid, 150u);
  EXPECT_EQ(error_of(create("g", CreateMode::kGuarded, kBob)), ErrorCode::kNotOwner);
}

TEST_F(CreateTest, ASetgidDirectoryGivesItsGroup) {
  SetAttributes group;
  group.gid = 500;
  group.mode = 02777;
  ASSERT_TRUE(setattr(world.context(), kRoot, world.root(), group));
  node.attributes.mode = 02755;
  const auto made = create("f", CreateMode::kGuarded, kAlice);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attributes.gid, 500u);
  EXPECT_EQ(made->attributes.mode, 0755u) << "not a member: no setgid";
}

TEST_F(CreateTest, ConflictsWithTheSameName) {
  world.session().forget();
  world.session().interrupt([&] { world.create(world.root(), "f"); });
  EXPECT_EQ(error_of(create("f")), ErrorCode::kAlreadyExists);
  EXPECT_EQ(world.names(world.root()).size(), 1u);
}

TEST_F(CreateTest, DoesNotConflictWithAnotherName) {
  world.session().forget();
  world.session().interrupt([&] { world.create(world.root(), "g"); });
  ASSERT_TRUE(create("f"));
  EXPECT_EQ(world.session().conflicts(), 0);
}

TEST_F(CreateTest, ConflictsWithAChmodOfTheDirectory) {
  world.session().forget();
  world.session().interrupt([&] { world.chmod(world.root(), 0755); });
  EXPECT_EQ(error_of(create("f", CreateMode::kGuarded, kAlice)), ErrorCode::kPermission);
  EXPECT_EQ(world.session().conflicts(), 1);
}

TEST_F(CreateTest, NeverInARemovedDirectoryAndNoTimesAreLeft) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.session().interrupt([&] { ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d")); });
  EXPECT_EQ(error_of(fs::create(world.context(), kRoot, dir, "f", CreateMode::kGuarded, 0, node)),
            ErrorCode::kStale);
  EXPECT_FALSE(world.exists(kv::keys::directory_times(world.fs(), dir.ino)));
}

TEST_F(CreateTest, NoTimesAreLeftInARemovedDirectoryThatTheCacheHasForgotten) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.session().interrupt([&] {
    ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d"));
    world.session().evict(100);
  });
  EXPECT_EQ(error_of(fs::create(world.context(), kRoot, dir, "f", CreateMode::kGuarded, 0, node)),
            ErrorCode::kStale);
  EXPECT_FALSE(world.exists(kv::keys::directory_times(world.fs(), dir.ino)));
}

TEST(CreateLostReplyTest, HappensOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    world.fail_next_commit(fault);
    const auto made =
        create(world.context(), kRoot, world.root(), "f", CreateMode::kGuarded, 0, {});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(world.faults_met());
    EXPECT_EQ(world.names(world.root()).size(), 1u);
    EXPECT_EQ(world.attributes(made->attributes.handle).nlink, 1u);
  }
}

// A directory whose files Bob may read and write, and others may not.
SetAttributes shared_with_bob() {
  AclChange change;
  change.inherited = PosixAcl{{PosixTag::kUserObject, 0, 7},
                              {PosixTag::kUser, kBob.uid, 6},
                              {PosixTag::kGroupObject, 0, 5},
                              {PosixTag::kMask, 0, 7},
                              {PosixTag::kOther, 0, 0}};
  SetAttributes changes;
  changes.acl = std::make_shared<AclChange>(std::move(change));
  return changes;
}

TEST_F(CreateTest, AnAclIsInherited) {
  ASSERT_TRUE(setattr(world.context(), kRoot, world.root(), shared_with_bob()));
  world.session().forget();
  node.attributes.mode = 0666;
  const auto made = create("f");
  ASSERT_TRUE(made);
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) absent", "inode(1) unchanged"));
  EXPECT_EQ(made->attributes.mode, 0660u);
  ASSERT_NE(made->attributes.acl, nullptr);
  EXPECT_TRUE(check_access(kBob, made->attributes, kMayRead | kMayWrite));
  EXPECT_FALSE(check_access(kAlice, made->attributes, kMayRead));
}

TEST_F(CreateTest, AnAclOfTheClientsIsNotMixedWithWhatIsInherited) {
  ASSERT_TRUE(setattr(world.context(), kRoot, world.root(), shared_with_bob()));
  node.attributes.mode = 0600;
  node.attributes.acl = std::make_shared<AclChange>(
      AclChange{Acl{{{AceType::kAllow, AceWho::kUser, kAlice.uid, 0, kAceReadData}}}, {}, {}});
  const auto made = create("f");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attributes.mode, 0600u);  // set after the ACL (RFC 8881 6.4.3)
  EXPECT_FALSE(check_access(kBob, made->attributes, kMayRead));
}

}  // namespace
}  // namespace symnas::fs
