// Every mutating operation of file data: its exact compares, what happens when another operation is
// faster, and what a lost reply leaves.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

namespace keys = kv::keys;
constexpr Ino kFile{42};
constexpr FsId kFs = FileWorld::kFs;

// A compare or a write as text: its kind and key, without the revision.
std::string name_of(const kv::KeyRange& range) {
  const auto table = [&](char area, char letter) {
    return range.key.starts_with(keys::table(kFs, area, letter));
  };
  std::string out = table('w', 'I')   ? "inode"
                    : table('w', 'M') ? "chunk"
                    : table('w', 'K') ? "token"
                    : table('u', 'G') ? "group"
                    : table('u', 'R') ? "rmap"
                    : table('w', 'O') ? "orphan"
                    : table('w', 'B') ? "mount"
                                      : "other";
  if (!range.end.empty()) out += " range";
  return out;
}
std::multiset<std::string> compares_of(const kv::Mutation& mutation) {
  std::multiset<std::string> out;
  for (const kv::Compare& c : mutation.compares) {
    using Target = kv::Compare::Target;
    std::string what = name_of(c.range);
    if (c.target == Target::kModRevision) what += c.number == 0 ? " absent" : " unchanged";
    if (c.target == Target::kVersion || c.target == Target::kCreateRevision) {
      const bool absent = c.relation == kv::Compare::Relation::kEqual && c.number == 0;
      what += absent ? " absent" : " exists";
    }
    out.insert(what);
  }
  return out;
}
std::multiset<std::string> writes_of(const kv::Mutation& mutation) {
  std::multiset<std::string> out;
  for (const kv::Op& op : mutation.writes) {
    out.insert((op.kind == kv::Op::Kind::kPut ? "put " : "erase ") + name_of(op.range));
  }
  return out;
}
using Set = std::multiset<std::string>;

// A world with one owned group and a settled file, so that the next mutation is the one to look at.
class MutationTest : public ::testing::Test {
 protected:
  MutationTest() : world_(one_group()) {
    world_.create(Ino{1});
    EXPECT_TRUE(world_.write(Ino{1}, 0, "x", WriteStability::kFileSync).has_value());
    world_.create(kFile);
    world_.pass_ns(5'000'000'000);
    world_.session().forget();
  }
  static WorldOptions one_group() {
    WorldOptions options;
    options.group_blocks = options.volume_bytes / kBlockBytes;
    return options;
  }
  void write(std::uint64_t offset, std::size_t bytes,
             WriteStability wanted = WriteStability::kUnstable) {
    ASSERT_TRUE(world_.write(kFile, offset, std::string(bytes, 'a'), wanted).has_value());
  }
  const kv::Mutation& only_mutation() {
    EXPECT_EQ(world_.session().mutations().size(), 1u);
    return world_.session().mutations().back();
  }
  // Changes the mode just before the next commit: the operation must keep both changes.
  void chmod_before_next_commit() {
    world_.session().interrupt([this] {
      world_.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(0600); });
    });
  }
  void lose_next_reply() { world_.faults()->push(kv::TxnFault::Kind::kReplyLost); }

  FileWorld world_;
};

TEST_F(MutationTest, SettingTheFlag) {
  write(0, 10);
  EXPECT_EQ(compares_of(only_mutation()), (Set{"inode exists"}));
  EXPECT_EQ(writes_of(only_mutation()), (Set{"put token"}));
}

TEST_F(MutationTest, SettingTheFlagOfASetuidFile) {
  world_.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(04755); });
  world_.session().forget();
  world_.session().interrupt(
      [this] { world_.change_inode(kFile, [](records::Inode& inode) { inode.set_uid(77); }); });
  write(0, 10);
  EXPECT_EQ(compares_of(world_.session().mutations().back()), (Set{"inode unchanged"}));
  EXPECT_EQ(writes_of(world_.session().mutations().back()), (Set{"put inode", "put token"}));
  EXPECT_EQ(world_.session().conflicts(), 1);
  EXPECT_EQ(world_.inode(kFile).mode(), 0755u);
  EXPECT_EQ(world_.inode(kFile).uid(), 77u);
}

TEST_F(MutationTest, CommitOfAFirstExtent) {
  write(0, 10);
  world_.session().forget();
  ASSERT_TRUE(world_.commit(kFile).has_value());
  EXPECT_EQ(compares_of(only_mutation()),
            (Set{"group unchanged", "inode unchanged", "rmap range absent"}));
  EXPECT_EQ(writes_of(only_mutation()), (Set{"erase token", "put inode", "put rmap"}));
}

TEST_F(MutationTest, CommitThatExtends) {
  write(0, 4096, WriteStability::kFileSync);
  write(4096, 4096);
  world_.session().forget();
  ASSERT_TRUE(world_.commit(kFile).has_value());
  EXPECT_EQ(compares_of(only_mutation()),
            (Set{"group unchanged", "inode unchanged", "rmap exists", "rmap range absent"}));
}

TEST_F(MutationTest, CommitOfALargeFile) {
  write(0, 2 << 20);
  world_.session().forget();
  ASSERT_TRUE(world_.commit(kFile).has_value());
  EXPECT_EQ(compares_of(only_mutation()),
            (Set{"chunk absent", "group unchanged", "inode unchanged", "rmap range absent"}));
  EXPECT_EQ(writes_of(only_mutation()), (Set{"erase token", "put chunk", "put inode", "put rmap"}));
  write(2 << 20, 1 << 20);
  world_.session().forget();
  ASSERT_TRUE(world_.commit(kFile).has_value());
  EXPECT_EQ(compares_of(world_.session().mutations().back()).count("chunk unchanged"), 1u);
}

TEST_F(MutationTest, DroppingTheFlagWithTimes) {
  write(0, 4096, WriteStability::kFileSync);
  write(0, 4096);
  world_.session().forget();
  world_.pass_ns(10'000'000'000);
  EXPECT_EQ(compares_of(only_mutation()), (Set{"inode unchanged"}));
  EXPECT_EQ(writes_of(only_mutation()), (Set{"erase token", "put inode"}));
}

TEST_F(MutationTest, SizeUpAndDown) {
  write(0, 8192, WriteStability::kFileSync);
  world_.session().forget();
  ASSERT_TRUE(world_.set_size(kFile, 100000).has_value());
  EXPECT_EQ(compares_of(only_mutation()), (Set{"inode unchanged"}));
  EXPECT_EQ(writes_of(only_mutation()), (Set{"put inode"}));
  world_.session().forget();
  ASSERT_TRUE(world_.set_size(kFile, 4096).has_value());
  EXPECT_EQ(writes_of(only_mutation()), (Set{"put inode", "put rmap"}));
  world_.session().forget();
  ASSERT_TRUE(world_.set_size(kFile, 0).has_value());
  EXPECT_EQ(writes_of(only_mutation()), (Set{"erase rmap", "put inode"}));
}

TEST_F(MutationTest, SizeZeroOfALargeFileTakesANewMapGeneration) {
  write(0, 2 << 20, WriteStability::kFileSync);
  world_.session().forget();
  ASSERT_TRUE(
      world_.data().set_size(world_.handle(kFile), 0, MtimeIs::kOfTheChange, nullptr).has_value());
  EXPECT_EQ(compares_of(only_mutation()), (Set{"inode unchanged"}));
  EXPECT_EQ(writes_of(only_mutation()), (Set{"put inode", "put orphan"}));
  world_.session().forget();
  world_.settle();  // the sweep
  ASSERT_EQ(world_.session().mutations().size(), 2u);
  EXPECT_EQ(compares_of(world_.session().mutations()[0]), (Set{"chunk unchanged", "rmap"}));
  EXPECT_EQ(writes_of(world_.session().mutations()[0]), (Set{"erase chunk", "erase rmap"}));
  EXPECT_EQ(compares_of(world_.session().mutations()[1]), (Set{"orphan unchanged"}));
}

TEST_F(MutationTest, AConflictingChmodIsKept) {
  write(0, 5000);
  chmod_before_next_commit();
  ASSERT_TRUE(world_.commit(kFile).has_value());
  EXPECT_EQ(world_.session().conflicts(), 1);
  EXPECT_EQ(world_.inode(kFile).mode(), 0600u);
  EXPECT_EQ(world_.inode(kFile).size_bytes(), 5000u);
  chmod_before_next_commit();
  ASSERT_TRUE(world_.set_size(kFile, 100).has_value());
  EXPECT_EQ(world_.session().conflicts(), 2);
  EXPECT_EQ(world_.inode(kFile).size_bytes(), 100u);
  world_.check_records();
}

TEST_F(MutationTest, AnEditThatRefusesChangesNothing) {
  write(0, 5000, WriteStability::kFileSync);
  const std::string before = world_.inode(kFile).SerializeAsString();
  const auto refused = world_.data().set_size(
      world_.handle(kFile), 0, MtimeIs::kOfTheChange,
      [](records::Inode&) -> Status { return fail(ErrorCode::kPermission, "not yours"); });
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  EXPECT_EQ(world_.inode(kFile).SerializeAsString(), before);
  EXPECT_EQ(world_.read(kFile, 0, 5000).value(), std::string(5000, 'a'));
}

TEST_F(MutationTest, CommitsOfTwoFilesDoNotConflict) {
  write(0, 5000);
  world_.create(Ino{43});
  ASSERT_TRUE(world_.write(Ino{43}, 0, "other").has_value());
  world_.session().interrupt([this] { EXPECT_TRUE(world_.commit(Ino{43}).has_value()); });
  ASSERT_TRUE(world_.commit(kFile).has_value());
  EXPECT_EQ(world_.session().conflicts(), 0);
}

TEST_F(MutationTest, ALostReplyIsNoLostCommit) {
  write(0, 5000);
  lose_next_reply();
  ASSERT_TRUE(world_.commit(kFile).has_value());
  EXPECT_TRUE(world_.faults()->empty());
  EXPECT_EQ(world_.inode(kFile).size_bytes(), 5000u);
  lose_next_reply();
  ASSERT_TRUE(world_.set_size(kFile, 20).has_value());
  lose_next_reply();
  world_.pass_ns(5'000'000'000);
  lose_next_reply();
  write(4096, 100, WriteStability::kFileSync);
  EXPECT_EQ(world_.read(kFile, 0, 21).value(), std::string(20, 'a') + std::string(1, '\0'));
  EXPECT_EQ(world_.session().conflicts(), 0);
  lose_next_reply();
  ASSERT_TRUE(world_.remove(kFile).has_value());
  world_.settle();
  world_.check_records();
}

// Without one of these compares two mounts would record the same block.
TEST_F(MutationTest, AGroupTakenOverRefusesGrowth) {
  write(0, 5000);
  const std::string key = keys::group_owner(kFs, 0);
  records::GroupOwner thief;
  thief.set_mount(999);
  kv::Mutation theft;
  theft.writes.push_back(kv::put(key, thief.SerializeAsString()));
  ASSERT_TRUE(world_.session().commit_blocking(std::move(theft))->succeeded);
  const Status committed = world_.commit(kFile);
  ASSERT_FALSE(committed.has_value());
  EXPECT_EQ(committed.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(world_.failed()) << "the next instance looks again at who owns which group";
  EXPECT_EQ(world_.inode(kFile).size_bytes(), 0u);
}

TEST_F(MutationTest, AReverseMapKeyInTheWayRefusesGrowth) {
  write(0, 3 * 4096);
  records::ReverseMap other;
  other.set_ino(7);
  other.set_blocks(1);
  kv::Mutation mutation;
  for (std::uint64_t block = 0; block < 200; ++block) {
    mutation.writes.push_back(kv::put(keys::reverse_map(kFs, 0, block), other.SerializeAsString()));
  }
  ASSERT_TRUE(world_.session().commit_blocking(std::move(mutation))->succeeded);
  EXPECT_EQ(world_.commit(kFile).error().code, ErrorCode::kFenced);
  EXPECT_TRUE(world_.failed()) << "what was written there is to be written again, elsewhere";
}

}  // namespace
}  // namespace symnas::fs::test
