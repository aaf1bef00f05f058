#include "vnfsd/daemon/admin/heads_admin.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/daemon/fake_membership.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/config/bundle.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/pki/authority.h"

namespace symnas::vnfsd::daemon {
namespace {

Config with_authority() {
  Config config = config_of("c1n3");
  const std::string directory = ::testing::TempDir() + "symnas-heads-admin";
  std::filesystem::create_directories(directory);
  config.etcd.ca = directory + "/ca.crt";
  config.etcd.endpoints = {"https://10.99.0.1:2379"};
  return config;
}

class HeadsAdminTest : public HeadWorld {
 protected:
  HeadsAdminTest() : HeadWorld(with_authority()) {}
  void SetUp() override {
    std::filesystem::remove(key_path());
    builder.three_heads();
  }
  std::string key_path() const {
    return (std::filesystem::path(head.config.etcd.ca).parent_path() / "ca.key").string();
  }
  void make_authority() {
    const auto made = pki::Authority::create("lab");
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE(
        instance::write_file_atomically(head.config.etcd.ca, made->certificate_pem(), 0600));
    ASSERT_TRUE(instance::write_file_atomically(key_path(), made->key_pem(), 0600));
  }
  Result<nlohmann::json> invite(const std::string& name, const std::string& address,
                                Mode mode = Mode::kCommit) {
    return admin.invite_head(name, address, api::EtcdRole::kClient, mode);
  }

  std::stop_source end;
  HistoryWriter history{head, event_writer};
  FenceMeans means{head, nullptr, {}, end.get_token()};
  Fencing fencing{{head, reader, event_writer, history, means}};
  FakeMembership membership;
  MembersAdmin members{head, &membership};
  HeadsAdmin admin{head, reader, event_writer, fencing, members};
};

TEST_F(HeadsAdminTest, ANameOrAddressThatHasJoinedIsNotInvited) {
  EXPECT_EQ(code_of(invite("c1n2", "10.99.0.9")), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(invite("c1n9", "10.99.0.2")), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(invite("c1n9", "nowhere")), ErrorCode::kInvalidArgument);
}

TEST_F(HeadsAdminTest, OnlyWhereTheKeyIsHeadsAreInvited) {
  const auto refused = invite("c1n9", "10.99.0.9");
  EXPECT_EQ(code_of(refused), ErrorCode::kNotFound);
  EXPECT_NE(refused.error().message.find("ca.key"), std::string::npos);
}

TEST_F(HeadsAdminTest, AnInvitationAdmitsOneMachine) {
  make_authority();
  ASSERT_TRUE(invite("c1n9", "10.99.0.9", Mode::kDryRun));
  EXPECT_TRUE(builder.view().admissions.empty());
  const auto invited = invite("c1n9", "10.99.0.9");
  ASSERT_TRUE(invited) << invited.error().message;
  const auto bundle = bundle_from_json((*invited)["bundle"]);
  ASSERT_TRUE(bundle);
  EXPECT_EQ(bundle->head_name, "c1n9");
  EXPECT_FALSE(bundle->admission.empty());
  EXPECT_TRUE(builder.view().admissions.contains("c1n9"));
}

TEST_F(HeadsAdminTest, WithoutMeansNoHeadIsFenced) {
  EXPECT_EQ(code_of(admin.fence_head("c1n2", Mode::kCommit, nobody_watches())),
            ErrorCode::kNotSupported);
}

TEST_F(HeadsAdminTest, AHeadThatServesIsNotRemoved) {
  builder.basics();
  builder.vnfs1({"c1n1", "c1n2"});
  builder.owner("vnfs1", "c1n2");
  EXPECT_EQ(code_of(admin.remove_head("c1n2", api::Consent::kYes, Mode::kCommit)),
            ErrorCode::kBusy);
  EXPECT_TRUE(builder.view().heads.contains("c1n2"));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
