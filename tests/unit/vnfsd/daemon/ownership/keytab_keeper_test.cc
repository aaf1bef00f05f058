// A keytab is sealed anew when heads have come, gone or got other keys.
#include "vnfsd/daemon/ownership/keytab_keeper.h"

#include <filesystem>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/keytab_writer.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd::daemon {
namespace {

class KeytabKeeperTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.three_heads().basics().vnfs1({"c1n1", "c1n2"});
    for (const char* name : {"c1n1", "c1n2"}) give_key(name);
    KeytabEntry entry;
    entry.principal = "nfs/vnfs1@R";
    entry.kvno = 2;
    entry.enctype = 18;
    // As an entry of a file: one component, realm, name, type, time, kvno, enctype, key.
    entry.bytes = std::string("\0\1\0\1R\0\1n\0\0\0\1\0\0\0\0\2\0\x12\0\1k", 22);
    const auto sealed = instance::seal_keytab(builder.view(), "vnfs1", {entry}, 5);
    ASSERT_TRUE(sealed) << sealed.error().message;
    builder.put(kv::keys::kKeytabs + "vnfs1", sealed->SerializeAsString());
  }
  void TearDown() override { std::filesystem::remove_all(folder()); }

  static std::string folder() {
    return ::testing::TempDir() + "keytab_keeper-" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static Config config(const std::string& name) {
    Config config = config_of(name);
    config.etcd.key = folder() + "/" + name + "/head.key";
    EXPECT_TRUE(instance::make_directories(folder() + "/" + name));
    return config;
  }
  // A public key in the head's record, as it registers with.
  void give_key(const std::string& name) {
    records::HeadRecord record = builder.view().heads.at(name).record;
    const auto key = instance::make_box_key_once(config(name));
    ASSERT_TRUE(key) << key.error().message;
    record.set_seal_key(key->public_key);
    builder.put(kv::keys::kHeads + name, record.SerializeAsString());
  }
  void say_key(const std::string& name, const std::string& public_key) {
    records::HeadRecord record = builder.view().heads.at(name).record;
    record.set_seal_key(public_key);
    builder.put(kv::keys::kHeads + name, record.SerializeAsString());
  }
  void follow_on(const std::string& name) {
    const ThisHead self{builder.store, clock, config(name), "boot of " + name};
    KeytabKeeper(self, event_writer).follow(builder.view());
  }
  bool opens(const std::string& name) {
    const ClusterView view = builder.view();
    return instance::open_keytab(config(name), view.keytabs.at("vnfs1").record,
                                 keytab_subject(view, "vnfs1"))
        .has_value();
  }
  Revision revision() { return builder.view().keytabs.at("vnfs1").mod_revision; }
};

TEST_F(KeytabKeeperTest, NothingIsWrittenWhileNothingHasChanged) {
  const Revision before = revision();
  follow_on("c1n1");
  EXPECT_EQ(revision(), before);
  EXPECT_TRUE(opens("c1n1") && opens("c1n2"));
}

TEST_F(KeytabKeeperTest, AHeadThatComesGetsIt) {
  give_key("c1n3");
  EXPECT_FALSE(opens("c1n3"));
  follow_on("c1n3");  // cannot help itself
  EXPECT_FALSE(opens("c1n3"));
  follow_on("c1n2");
  EXPECT_TRUE(opens("c1n3") && opens("c1n1"));
  EXPECT_EQ(event_text(kKeytabSealed),
            "vnfs vnfs1: its keytab is sealed for a new key of head c1n3");
  EXPECT_EQ(events().size(), 1U);
  const Revision after = revision();
  follow_on("c1n1");
  EXPECT_EQ(revision(), after);
}

TEST_F(KeytabKeeperTest, TheDomainOfOwnersStays) {
  records::KeytabRecord record = builder.view().keytabs.at("vnfs1").record;
  record.set_owner_domain("example.com");
  builder.put(kv::keys::kKeytabs + "vnfs1", record.SerializeAsString());
  give_key("c1n3");
  follow_on("c1n2");
  EXPECT_TRUE(opens("c1n3"));
  EXPECT_EQ(builder.view().keytabs.at("vnfs1").record.owner_domain(), "example.com");
}

TEST_F(KeytabKeeperTest, AHeadThatHasLostItsKeyGetsItAgain) {
  std::filesystem::remove(folder() + "/c1n1/seal.key");
  give_key("c1n1");
  EXPECT_FALSE(opens("c1n1"));
  follow_on("c1n2");
  EXPECT_TRUE(opens("c1n1"));
}

TEST_F(KeytabKeeperTest, AKeyThatIsNoneIsLeftOut) {
  give_key("c1n3");
  say_key("c1n1", "nonsense");
  follow_on("c1n2");
  EXPECT_TRUE(opens("c1n3") && opens("c1n2"));
  EXPECT_FALSE(opens("c1n1"));
  EXPECT_EQ(events().size(), 1U);  // of c1n3
  const Revision after = revision();
  follow_on("c1n2");
  EXPECT_EQ(revision(), after);
}

TEST_F(KeytabKeeperTest, AKeytabThatIsNoneDoesNotKeepTheOthers) {
  // It opens, and is damaged.
  KeytabEntry entry;
  entry.principal = "nfs/vnfs0@R";
  entry.bytes = "damaged";
  const auto sealed = instance::seal_keytab(builder.view(), "vnfs0", {entry}, 5);
  ASSERT_TRUE(sealed) << sealed.error().message;
  builder.put(kv::keys::kKeytabs + "vnfs0", sealed->SerializeAsString());
  give_key("c1n3");
  follow_on("c1n2");
  EXPECT_TRUE(opens("c1n3"));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
