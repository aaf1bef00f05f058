#include "vnfsd/instance/keytab_writer.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/vnfsd/instance/test_plan.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd::instance {
namespace {

class KeytabWriterTest : public testing::Test {
 protected:
  KeytabWriterTest() {
    char pattern[] = "/tmp/keytab_writer_test.XXXXXX";
    folder = ::mkdtemp(pattern);
    plan.config.etcd.key = folder + "/head.key";
    plan.config.daemon.run_dir = folder;
    plan.paths = paths_for(plan.config, "vnfs1");
    EXPECT_TRUE(make_directories(plan.paths.directory));
    view.cluster.record.set_uuid(std::string(16, 'u'));
  }
  ~KeytabWriterTest() override { std::filesystem::remove_all(folder); }

  // As the head of that configuration seals it.
  void give_keytab() {
    const auto key = make_box_key_once(plan.config);
    ASSERT_TRUE(key) << key.error().message;
    view.heads["c1n1"].record.set_seal_key(key->public_key);
    KeytabEntry entry;
    entry.principal = "nfs/vnfs1@X.ORG";
    entry.kvno = 2;
    entry.enctype = 18;
    entry.bytes = "secret bytes";
    const auto record = seal_keytab(view, "vnfs1", {entry}, 5);
    ASSERT_TRUE(record) << record.error().message;
    plan.keytab = *record;
    plan.keytab_subject = keytab_subject(view, "vnfs1");
  }

  std::string folder;
  ClusterView view;
  InstancePlan plan = test_plan();
};

unsigned mode_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
}

TEST_F(KeytabWriterTest, TheHeadsKeyIsMadeOnceForRootAlone) {
  EXPECT_EQ(own_box_key(plan.config).error().code, ErrorCode::kPermission);
  EXPECT_EQ(mode_of(folder + "/seal.key"), 0U);
  const auto key = make_box_key_once(plan.config);
  ASSERT_TRUE(key);
  EXPECT_EQ(make_box_key_once(plan.config)->public_key, key->public_key);
  EXPECT_EQ(mode_of(folder + "/seal.key"), 0600U);
  EXPECT_EQ(own_box_key(plan.config)->public_key, key->public_key);
  ASSERT_TRUE(write_file_atomically(folder + "/seal.key", "something else", 0600));
  EXPECT_EQ(own_box_key(plan.config).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make_box_key_once(plan.config).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(KeytabWriterTest, AKeyThatCannotBeReadNowIsAnErrorAndStays) {
  give_keytab();
  ASSERT_TRUE(write_keytab(plan));
  // Not readable, even for root, and it comes back.
  std::filesystem::rename(folder + "/seal.key", folder + "/kept");
  std::filesystem::create_symlink("seal.key", folder + "/seal.key");
  EXPECT_FALSE(make_box_key_once(plan.config));
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/seal.key"));
  EXPECT_FALSE(write_keytab(plan));
  EXPECT_EQ(mode_of(plan.paths.keytab), 0600U);  // what the instance has stays
  std::filesystem::rename(folder + "/kept", folder + "/seal.key");
  EXPECT_TRUE(write_keytab(plan));
}

TEST_F(KeytabWriterTest, AHeadWithoutItsKeyServesWithoutKerberos) {
  give_keytab();
  ASSERT_TRUE(write_keytab(plan));
  std::filesystem::remove(folder + "/seal.key");
  EXPECT_TRUE(write_keytab(plan));
  EXPECT_EQ(mode_of(plan.paths.keytab), 0U);
  EXPECT_EQ(mode_of(folder + "/seal.key"), 0U);  // it is only read
}

TEST_F(KeytabWriterTest, TheInstanceGetsTheFile) {
  give_keytab();
  EXPECT_EQ(plan.keytab->keys(0).principal(), "nfs/vnfs1@X.ORG");
  EXPECT_EQ(plan.keytab->SerializeAsString().find("secret bytes"), std::string::npos);
  ASSERT_TRUE(write_keytab(plan));
  EXPECT_EQ(mode_of(plan.paths.keytab), 0600U);
  EXPECT_NE(read_file(plan.paths.keytab)->find("secret bytes"), std::string::npos);
  EXPECT_NE(read_file(plan.paths.krb5_conf)->find("default_realm = X.ORG"), std::string::npos);
  remove_keytab(plan.paths);
  EXPECT_EQ(mode_of(plan.paths.keytab), 0U);
  EXPECT_EQ(mode_of(plan.paths.krb5_conf), 0U);
}

TEST_F(KeytabWriterTest, WhatCannotBeOpenedIsNotThere) {
  give_keytab();
  ASSERT_TRUE(write_keytab(plan));
  plan.config.head_name = "c1n9";
  EXPECT_TRUE(write_keytab(plan));
  EXPECT_EQ(mode_of(plan.paths.keytab), 0U);
  plan.config.head_name = "c1n1";
  ASSERT_TRUE(write_keytab(plan));
  plan.keytab.reset();
  EXPECT_TRUE(write_keytab(plan));
  EXPECT_EQ(mode_of(plan.paths.keytab), 0U);
}

}  // namespace
}  // namespace symnas::vnfsd::instance
