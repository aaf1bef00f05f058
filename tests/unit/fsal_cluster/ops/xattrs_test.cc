#include "fsal_cluster/ops/xattrs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "common/kv/xattr_keys.h"
#include "fsal_cluster/ops/link.h"
#include "fsal_cluster/ops/orphan.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/ops/setattr.h"
#include "fsal_cluster/ops/unlink.h"
#include "fsal_cluster/types/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr XattrOption kEither = XattrOption::kEither;

class XattrsTest : public testing::Test {
 protected:
  ErrorCode set(const Handle& handle, const std::string& name, const std::string& value,
                XattrOption option = kEither, const Credentials& who = kRoot) {
    const Status done = set_xattr(world.context(), who, handle, name, value, option);
    return done ? ErrorCode::kInternal : done.error().code;
  }
  ErrorCode remove(const Handle& handle, const std::string& name, const Credentials& who = kRoot) {
    const Status done = remove_xattr(world.context(), who, handle, name);
    return done ? ErrorCode::kInternal : done.error().code;
  }
  std::string get(const Handle& handle, const std::string& name, const Credentials& who = kRoot) {
    const auto value = get_xattr(world.context(), who, handle, name);
    if (value) return *value;
    return value.error().code == ErrorCode::kNotFound ? "(none)" : value.error().message;
  }
  std::vector<std::string> list(const Handle& handle) {
    std::vector<std::string> out;
    const auto names = list_xattrs(world.context(), kRoot, handle, 0);
    EXPECT_TRUE(names);
    for (const XattrName& name : *names) out.push_back(name.name);
    return out;
  }
  records::Inode record(const Handle& handle) {
    const auto node = find_node(world.context(), handle.ino);
    EXPECT_TRUE(node && *node);
    return (*node)->record;
  }
  // Runs `by` once, just before this thread's next read of an attribute.
  void during_next_range(std::function<void()> by) {
    world.session().before_range_on_this_thread([this, by = std::move(by)] {
      const std::function<void()> once = by;
      world.session().before_range_on_this_thread(nullptr);
      once();
    });
  }
  // Attributes in the store, of any inode.
  std::size_t stored() {
    const auto found = kv::range_blocking(
        world.store(), kv::prefix_range(kv::keys::table(world.fs(), 'u', 'E')), 0, 1000);
    EXPECT_TRUE(found);
    return found->kvs.size();
  }

  static constexpr ErrorCode kDone = ErrorCode::kInternal;  // no operation answers it
  World world;
  const Handle file = world.create(world.root(), "f");
};

TEST_F(XattrsTest, ConflictSetAndWrites) {
  world.session().forget();
  ASSERT_EQ(set(file, "a", "1"), kDone);
  EXPECT_THAT(world.compares(), ElementsAre("inode(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put inode(17)", "put xattr(17)"));
  world.session().forget();
  ASSERT_EQ(set(file, "a", "2"), kDone);
  EXPECT_THAT(world.compares(), ElementsAre("inode(17) unchanged", "xattr(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put inode(17)", "put xattr(17)"));
  world.session().forget();
  ASSERT_EQ(remove(file, "a"), kDone);
  EXPECT_THAT(world.compares(), ElementsAre("inode(17) unchanged", "xattr(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("erase xattr(17)", "put inode(17)"));
}

TEST_F(XattrsTest, WhatIsSetIsThere) {
  const std::string bytes("\0\xff\n=", 4);
  ASSERT_EQ(set(file, "a/b.\xc3\xa4", bytes), kDone);
  ASSERT_EQ(set(file, "empty", ""), kDone);
  EXPECT_EQ(get(file, "a/b.\xc3\xa4"), bytes);
  EXPECT_EQ(get(file, "empty"), "");
  EXPECT_EQ(get(file, "a"), "(none)");
  EXPECT_THAT(list(file), UnorderedElementsAre("a/b.\xc3\xa4", "empty"));
  ASSERT_EQ(set(file, "empty", "now longer"), kDone);
  EXPECT_EQ(record(file).xattr_count(), 2u);
  EXPECT_EQ(record(file).xattr_bytes(), 6u + 4u + 5u + 10u);
  ASSERT_EQ(remove(file, "a/b.\xc3\xa4"), kDone);
  EXPECT_EQ(remove(file, "a/b.\xc3\xa4"), ErrorCode::kNotFound);
  EXPECT_THAT(list(file), ElementsAre("empty"));
  ASSERT_EQ(remove(file, "empty"), kDone);
  EXPECT_EQ(record(file).xattr_count(), 0u);
  EXPECT_EQ(record(file).xattr_bytes(), 0u);
}

TEST_F(XattrsTest, AFileWithoutAttributesAsksNothingOfTheStore) {
  bool asked = false;
  world.session().before_range_on_this_thread([&] { asked = true; });
  EXPECT_EQ(get(file, "a"), "(none)");
  EXPECT_THAT(list(file), IsEmpty());
  world.session().before_range_on_this_thread(nullptr);
  EXPECT_FALSE(asked);
}

TEST_F(XattrsTest, CtimeAndChangeMoveAndMtimeDoesNot) {
  const Attributes before = world.attributes(file);
  ASSERT_EQ(set(file, "a", "1"), kDone);
  const Attributes set_once = world.attributes(file);
  EXPECT_GT(set_once.change, before.change);
  EXPECT_GT(set_once.ctime_ns, before.ctime_ns);
  EXPECT_EQ(set_once.mtime_ns, before.mtime_ns);
  ASSERT_EQ(remove(file, "a"), kDone);
  const Attributes removed = world.attributes(file);
  EXPECT_GT(removed.change, set_once.change);
  EXPECT_GT(removed.ctime_ns, set_once.ctime_ns);
}

TEST_F(XattrsTest, Options) {
  EXPECT_EQ(set(file, "a", "1", XattrOption::kReplace), ErrorCode::kNotFound);
  EXPECT_EQ(set(file, "a", "1", XattrOption::kCreate), kDone);
  EXPECT_EQ(set(file, "a", "2", XattrOption::kCreate), ErrorCode::kAlreadyExists);
  EXPECT_EQ(get(file, "a"), "1");
  EXPECT_EQ(set(file, "a", "3", XattrOption::kReplace), kDone);
  EXPECT_EQ(get(file, "a"), "3");
}

TEST_F(XattrsTest, Names) {
  EXPECT_EQ(set(file, "", "1"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(set(file, std::string("a\0b", 3), "1"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(set(file, std::string(256, 'n'), "1"), ErrorCode::kNameTooLong);
  EXPECT_EQ(set(file, std::string(255, 'n'), "1"), kDone);
  EXPECT_EQ(get(file, std::string(255, 'n')), "1");
}

TEST_F(XattrsTest, LimitsOfValuesAndOfAllTogether) {
  const std::string longest(kXattrValueBytesMax, 'v');
  EXPECT_EQ(set(file, "a", longest + "v"), ErrorCode::kTooLarge);
  EXPECT_EQ(set(file, "a", longest), kDone);
  EXPECT_EQ(get(file, "a"), longest);
  EXPECT_EQ(set(file, "b", longest), ErrorCode::kTooLarge) << "two bytes of names too many";
  EXPECT_EQ(set(file, "b", longest.substr(2)), kDone);
  EXPECT_EQ(record(file).xattr_bytes(), kXattrBytesMax);
  EXPECT_EQ(set(file, "c", ""), ErrorCode::kTooLarge);
  EXPECT_EQ(set(file, "a", longest), kDone) << "the same again";
  EXPECT_EQ(set(file, "b", "short"), kDone);
  EXPECT_EQ(set(file, "c", ""), kDone);
}

TEST_F(XattrsTest, LimitOfTheirNumber) {
  for (std::uint32_t i = 0; i < kXattrsMax; ++i)
    ASSERT_EQ(set(file, "n" + std::to_string(i), ""), kDone) << i;
  EXPECT_EQ(set(file, "more", ""), ErrorCode::kNoSpace);
  EXPECT_EQ(set(file, "n7", "replaced"), kDone);
  EXPECT_EQ(list(file).size(), kXattrsMax);
  ASSERT_EQ(remove(file, "n0"), kDone);
  EXPECT_EQ(set(file, "more", ""), kDone);
}

TEST_F(XattrsTest, AListGoesOnWhileNamesComeAndGo) {
  for (int i = 0; i < 20; ++i) ASSERT_EQ(set(file, "n" + std::to_string(i), ""), kDone);
  const auto all = list_xattrs(world.context(), kRoot, file, 0);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 20u);
  ASSERT_EQ(remove(file, (*all)[3].name), kDone);
  ASSERT_EQ(remove(file, (*all)[12].name), kDone);
  const auto rest = list_xattrs(world.context(), kRoot, file, (*all)[9].cookie);
  ASSERT_TRUE(rest);
  std::vector<std::string> expected;
  for (std::size_t i = 10; i < 20; ++i)
    if (i != 12) expected.push_back((*all)[i].name);
  std::vector<std::string> names;
  for (const XattrName& name : *rest) names.push_back(name.name);
  EXPECT_EQ(names, expected);
}

TEST_F(XattrsTest, TheModeSaysWhoMay) {
  const Handle alices = world.create(world.root(), "alices", kAlice);
  world.chmod(alices, 0640);
  EXPECT_EQ(set(alices, "a", "1", kEither, kAlice), kDone);
  EXPECT_EQ(set(alices, "a", "2", kEither, kBob), ErrorCode::kPermission);
  EXPECT_EQ(remove(alices, "a", kBob), ErrorCode::kPermission);
  EXPECT_EQ(get(alices, "a", kAlice), "1");
  const auto denied = get_xattr(world.context(), kBob, alices, "a");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::kPermission);
  const auto no_list = list_xattrs(world.context(), kBob, alices, 0);
  ASSERT_FALSE(no_list);
  EXPECT_EQ(no_list.error().code, ErrorCode::kPermission);
  world.chmod(alices, 0646);
  EXPECT_EQ(set(alices, "a", "2", kEither, kBob), kDone) << "write permission is enough";
  EXPECT_EQ(get(alices, "a", kBob), "2");
  world.chmod(alices, 0400);
  EXPECT_EQ(set(alices, "a", "3", kEither, kAlice), ErrorCode::kPermission) << "also the owner";
  EXPECT_EQ(set(alices, "a", "3", kEither, kRoot), kDone);
}

TEST_F(XattrsTest, WhatIsSetAfterARightIsGoneIsNotAnswered) {
  const Handle alices = world.create(world.root(), "alices", kAlice);
  world.chmod(alices, 0644);
  ASSERT_EQ(set(alices, "a", "public"), kDone);
  during_next_range([&] {
    world.chmod(alices, 0600);
    ASSERT_EQ(set(alices, "a", "secret"), kDone);
  });
  const auto denied = get_xattr(world.context(), kBob, alices, "a");
  ASSERT_FALSE(denied) << *denied;
  EXPECT_EQ(denied.error().code, ErrorCode::kPermission);
}

TEST_F(XattrsTest, InAStickyDirectoryItsOwnerOnly) {
  const Handle dir = world.mkdir(world.root(), "d", kAlice);
  world.chmod(dir, 01777);
  EXPECT_EQ(set(dir, "a", "1", kEither, kBob), ErrorCode::kNotOwner);
  EXPECT_EQ(set(dir, "a", "1", kEither, kAlice), kDone);
  EXPECT_EQ(remove(dir, "a", kBob), ErrorCode::kNotOwner);
  world.chmod(dir, 0777);
  EXPECT_EQ(set(dir, "a", "2", kEither, kBob), kDone);
  EXPECT_EQ(get(dir, "a", kBob), "2");
}

TEST_F(XattrsTest, OthersThanFilesAndDirectoriesHaveNone) {
  const Handle link = world.symlink(world.root(), "soft");
  EXPECT_EQ(set(link, "a", "1"), ErrorCode::kNotOwner);
  EXPECT_EQ(remove(link, "a"), ErrorCode::kNotOwner);
  EXPECT_EQ(get(link, "a"), "(none)");
  EXPECT_THAT(list(link), IsEmpty());
}

TEST_F(XattrsTest, StaleHandles) {
  const Handle gone{world.fs(), Ino{99}, Generation{1}};
  EXPECT_EQ(set(gone, "a", "1"), ErrorCode::kStale);
  EXPECT_EQ(remove(gone, "a"), ErrorCode::kStale);
  EXPECT_FALSE(get_xattr(world.context(), kRoot, gone, "a"));
  EXPECT_FALSE(list_xattrs(world.context(), kRoot, gone, 0));
}

TEST_F(XattrsTest, TheyGoWithTheFile) {
  ASSERT_EQ(set(file, "a", "1"), kDone);
  ASSERT_EQ(set(file, "b", "2"), kDone);
  ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "second"));
  ASSERT_TRUE(rename(world.context(), kRoot, world.root(), "f", world.root(), "moved"));
  EXPECT_THAT(list(file), UnorderedElementsAre("a", "b"));
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "second"));
  EXPECT_EQ(get(file, "a"), "1");
  world.session().forget();
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "moved"));
  EXPECT_THAT(world.writes(), testing::Contains("erase xattrs(17)"));
  EXPECT_EQ(stored(), 0u);
}

TEST_F(XattrsTest, TheyGoWithTheDirectoryAndWithWhatARenameReplaces) {
  const Handle dir = world.mkdir(world.root(), "d");
  const Handle other = world.mkdir(world.root(), "e");
  ASSERT_EQ(set(dir, "a", "1"), kDone);
  ASSERT_EQ(set(other, "b", "2"), kDone);
  ASSERT_EQ(set(file, "c", "3"), kDone);
  ASSERT_TRUE(rename(world.context(), kRoot, world.root(), "e", world.root(), "d"));
  EXPECT_EQ(stored(), 2u);
  EXPECT_EQ(get(other, "b"), "2");
  world.create(world.root(), "g");
  ASSERT_TRUE(rename(world.context(), kRoot, world.root(), "g", world.root(), "f"));
  EXPECT_EQ(stored(), 1u);
  ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d"));
  EXPECT_EQ(stored(), 0u);
}

TEST_F(XattrsTest, TheyStayWhileTheNamelessFileIsOpen) {
  ASSERT_EQ(set(file, "a", "1"), kDone);
  world.open_files().opened(file.ino);
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(get(file, "a"), "1");
  EXPECT_EQ(set(file, "b", "2"), kDone);
  EXPECT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kLastOfOrphan);
  ASSERT_TRUE(end_orphan(world.context(), file.ino));
  EXPECT_EQ(stored(), 0u);
}

TEST_F(XattrsTest, ConflictsWithAnotherChangeOfTheFile) {
  world.session().interrupt([&] { ASSERT_EQ(set(file, "other", "1"), kDone); });
  ASSERT_EQ(set(file, "mine", "2"), kDone);
  EXPECT_EQ(world.session().conflicts(), 1);
  EXPECT_EQ(record(file).xattr_count(), 2u);
  world.session().interrupt([&] { ASSERT_EQ(remove(file, "mine"), kDone); });
  EXPECT_EQ(set(file, "mine", "3", XattrOption::kReplace), ErrorCode::kNotFound);
  world.session().interrupt([&] { ASSERT_EQ(set(file, "mine", "4"), kDone); });
  EXPECT_EQ(set(file, "mine", "5", XattrOption::kCreate), ErrorCode::kAlreadyExists);
  EXPECT_EQ(get(file, "mine"), "4");
}

// Between the reads of the inode and of the attribute.
TEST_F(XattrsTest, ANewerAttributeDoesNotBelongToTheInodeThatWasRead) {
  ASSERT_EQ(set(file, "a", "1"), kDone);
  during_next_range([&] { ASSERT_EQ(set(file, "a", "much longer"), kDone); });
  EXPECT_EQ(set(file, "a", "2"), kDone);
  EXPECT_EQ(record(file).xattr_bytes(), 2u);
  during_next_range([&] { ASSERT_EQ(set(file, "a", "longer again"), kDone); });
  EXPECT_EQ(remove(file, "a"), kDone);
  EXPECT_EQ(record(file).xattr_count(), 0u);
}

TEST_F(XattrsTest, ALimitThatDoesNotHoldAnyMoreRefusesNothing) {
  ASSERT_EQ(set(file, "a", std::string(kXattrValueBytesMax, 'v')), kDone);
  ASSERT_EQ(set(file, "b", std::string(kXattrValueBytesMax - 2, 'v')), kDone);
  during_next_range([&] { ASSERT_EQ(remove(file, "a"), kDone); });
  EXPECT_EQ(set(file, "a", std::string(kXattrValueBytesMax, 'w')), kDone);
  EXPECT_EQ(record(file).xattr_bytes(), kXattrBytesMax);
}

TEST_F(XattrsTest, ConflictsWithARefusalOfPermission) {
  const Handle alices = world.create(world.root(), "alices", kAlice);
  world.session().interrupt([&] { world.chmod(alices, 0400); });
  EXPECT_EQ(set(alices, "a", "1", kEither, kAlice), ErrorCode::kPermission);
  EXPECT_EQ(stored(), 0u);
}

TEST_F(XattrsTest, ConflictsWithTheRemovalOfTheFile) {
  ASSERT_EQ(set(file, "a", "1"), kDone);
  world.session().interrupt(
      [&] { ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f")); });
  EXPECT_EQ(set(file, "b", "1"), ErrorCode::kStale);
  EXPECT_EQ(stored(), 0u) << "no attribute of a file that is gone";
  const Handle next = world.create(world.root(), "next");
  ASSERT_EQ(set(next, "a", "1"), kDone);
  world.session().interrupt([&] { ASSERT_EQ(set(next, "b", "2"), kDone); });
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "next"));
  EXPECT_EQ(stored(), 0u) << "also what was set while the removal was planned";
}

TEST_F(XattrsTest, ACountThatDoesNotFitIsReported) {
  ASSERT_EQ(set(file, "a", "12345"), kDone);
  records::Inode damaged = record(file);
  damaged.set_xattr_bytes(2);
  kv::Mutation mutation;
  mutation.writes = {put_inode(world.fs(), file.ino, damaged)};
  ASSERT_TRUE(world.session().commit_blocking(std::move(mutation)));
  EXPECT_EQ(set(file, "a", "1"), ErrorCode::kCorrupt);
  EXPECT_EQ(remove(file, "a"), ErrorCode::kCorrupt);
  EXPECT_EQ(get(file, "a"), "12345");
}

// etcd runs full: nothing more is added, what is there can be removed.
TEST_F(XattrsTest, GrowthIsSaidToBe) {
  const auto growth = [&] { return world.session().mutations().back().growth; };
  ASSERT_EQ(set(file, "a", "12"), kDone);
  EXPECT_EQ(growth(), kv::Growth::kGrows);
  ASSERT_EQ(set(file, "a", "34"), kDone);
  EXPECT_EQ(growth(), kv::Growth::kChanges);
  ASSERT_EQ(set(file, "a", "345"), kDone);
  EXPECT_EQ(growth(), kv::Growth::kGrows);
  ASSERT_EQ(remove(file, "a"), kDone);
  EXPECT_EQ(growth(), kv::Growth::kMustGo);
}

TEST(XattrsLostReplyTest, HappensOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    const Handle file = world.create(world.root(), "f");
    world.fail_next_commit(fault);
    ASSERT_TRUE(set_xattr(world.context(), kRoot, file, "a", "1", XattrOption::kCreate));
    EXPECT_TRUE(world.faults_met());
    world.fail_next_commit(fault);
    ASSERT_TRUE(remove_xattr(world.context(), kRoot, file, "a"));
    EXPECT_TRUE(world.faults_met());
  }
}

}  // namespace
}  // namespace symnas::fs
