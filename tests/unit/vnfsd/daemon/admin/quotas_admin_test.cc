#include "vnfsd/daemon/admin/quotas_admin.h"

#include <nlohmann/json.hpp>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/schema/name_hash.h"
#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;

// A filesystem with /projects/a and the file /notes.
class QuotasAdminTest : public HeadWorld {
 protected:
  void SetUp() override {
    const auto made = formatted();
    ASSERT_TRUE(made) << made.error().message;
    record = *made;
    add(fs::kRootIno, "projects", kProjects, fs::FileType::kDirectory);
    add(kProjects, "a", kA, fs::FileType::kDirectory);
    add(fs::kRootIno, "notes", kNotes, fs::FileType::kRegular);
    ASSERT_TRUE(fs::switch_quotas(builder.store, id(), fs::QuotaSwitch::kOn));
  }
  FsId id() const { return FsId{record.fsid()}; }
  void add(Ino parent, const std::string& name, Ino ino, fs::FileType type) {
    const auto hasher = fs::NameHasher::create(record.name_hash_key());
    fs::records::DirentBucket bucket;
    ASSERT_TRUE(fs::add_entry(bucket, name, ino, type));
    fs::records::Inode inode;
    inode.set_type(static_cast<std::uint32_t>(type));
    inode.set_parent(parent.value());
    kv::Txn txn;
    txn.success = {kv::put(kv::keys::dirent_bucket(id(), parent, hasher->hash(name)),
                           bucket.SerializeAsString()),
                   kv::put(kv::keys::inode(id(), ino), inode.SerializeAsString())};
    ASSERT_TRUE(kv::txn_blocking(builder.store, txn, kTestDeadlineMs));
  }
  static api::QuotaRequest tree(const std::string& path, std::uint32_t number = 0) {
    return {{fs::SubjectKind::kTree, number}, path, {}};
  }
  json rows() {
    const auto all = admin.quotas("u04");
    EXPECT_TRUE(all) << all.error().message;
    return all ? (*all)["quotas"] : json::array();
  }
  static void expect_refused(const Result<std::string>& done, ErrorCode code,
                             const std::string& text) {
    ASSERT_FALSE(done) << *done;
    EXPECT_EQ(done.error().code, code) << done.error().message;
    EXPECT_NE(done.error().message.find(text), std::string::npos) << done.error().message;
  }

  static constexpr Ino kProjects{2}, kA{3}, kNotes{4};
  fs::records::FilesystemRecord record;
  QuotasAdmin admin{head, reader};
};

TEST_F(QuotasAdminTest, ADirectoryBecomesATreeAndGetsALimit) {
  const auto made = admin.add_quota_tree("u04", "//projects//a/", Mode::kCommit);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_NE(made->find("/projects/a is tree 1"), std::string::npos) << *made;
  api::QuotaRequest limit = tree("/projects/a");
  limit.edit.bytes_hard = 1 << 20;
  const auto set = admin.set_quota("u04", limit, Mode::kCommit);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_NE(set->find("marking"), std::string::npos) << *set;
  const json all = rows();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["kind"], "tree");
  EXPECT_EQ(all[0]["id"], 1);
  EXPECT_EQ(all[0]["path"], "/projects/a");
  EXPECT_EQ(all[0]["marking"], true);
  EXPECT_EQ(all[0]["limit"]["bytes_hard"], 1 << 20);
}

TEST_F(QuotasAdminTest, ATreeIsNamedByItsDirectoryOrItsNumber) {
  ASSERT_TRUE(admin.add_quota_tree("u04", "/projects/a", Mode::kCommit));
  api::QuotaRequest limit = tree("", 1);
  limit.edit.inodes_hard = 5;
  ASSERT_TRUE(admin.set_quota("u04", limit, Mode::kCommit));
  ASSERT_TRUE(admin.remove_quota("u04", tree("/projects/a"), Mode::kCommit));
  EXPECT_FALSE(rows()[0].contains("limit"));
  ASSERT_TRUE(admin.remove_quota_tree("u04", tree("", 1), Mode::kCommit));
  EXPECT_TRUE(rows().empty());
  // Its number is not used again.
  const auto again = admin.add_quota_tree("u04", "/projects/a", Mode::kCommit);
  ASSERT_TRUE(again);
  EXPECT_NE(again->find("is tree 2"), std::string::npos) << *again;
  ASSERT_TRUE(admin.remove_quota_tree("u04", tree("/projects/a"), Mode::kCommit));
}

TEST_F(QuotasAdminTest, ADryRunChangesNothing) {
  ASSERT_TRUE(admin.add_quota_tree("u04", "/projects/a", Mode::kDryRun));
  EXPECT_TRUE(rows().empty());
  ASSERT_TRUE(admin.add_quota_tree("u04", "/projects/a", Mode::kCommit));
  ASSERT_TRUE(admin.remove_quota_tree("u04", tree("/projects/a"), Mode::kDryRun));
  EXPECT_EQ(rows().size(), 1U);
}

TEST_F(QuotasAdminTest, WhatCannotBeATreeIsSaid) {
  const auto added = [&](const char* path) {
    return admin.add_quota_tree("u04", path, Mode::kCommit);
  };
  expect_refused(added("/"), ErrorCode::kInvalidArgument, "--filesystem");
  expect_refused(added("/notes"), ErrorCode::kInvalidArgument, "/notes is no directory");
  expect_refused(added("/none"), ErrorCode::kNotFound, "'none' does not exist");
  expect_refused(added("projects"), ErrorCode::kInvalidArgument, "from the root");
  ASSERT_TRUE(added("/projects/a"));
  expect_refused(added("/projects/a"), ErrorCode::kAlreadyExists, "is tree 1 already");
  expect_refused(added("/projects"), ErrorCode::kInvalidArgument, "has below it tree 1");
  ASSERT_TRUE(admin.remove_quota_tree("u04", tree("", 1), Mode::kCommit));
  ASSERT_TRUE(added("/projects"));
  expect_refused(added("/projects/a"), ErrorCode::kInvalidArgument, "lies in tree 2 (/projects)");
  EXPECT_EQ(code_of(admin.add_quota_tree("none", "/", Mode::kCommit)), ErrorCode::kNotFound);
  ASSERT_TRUE(admin.switch_quotas("u04", fs::QuotaSwitch::kOff, Mode::kCommit));
  expect_refused(added("/projects/a"), ErrorCode::kInvalidArgument, "symnas quota on");
}

TEST_F(QuotasAdminTest, ATreeThatIsNoneIsSaid) {
  api::QuotaRequest limit = tree("/projects/a");
  limit.edit.bytes_hard = 1;
  expect_refused(admin.set_quota("u04", limit, Mode::kCommit), ErrorCode::kNotFound,
                 "/projects/a is no directory tree; symnas quota tree add");
  limit = tree("", 7);
  limit.edit.bytes_hard = 1;
  expect_refused(admin.set_quota("u04", limit, Mode::kCommit), ErrorCode::kNotFound, "tree 7");
  expect_refused(admin.remove_quota_tree("u04", tree("", 7), Mode::kCommit), ErrorCode::kNotFound,
                 "symnas quota tree ls");
  expect_refused(admin.remove_quota_tree("u04", tree("/none"), Mode::kCommit), ErrorCode::kNotFound,
                 "does not exist");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
