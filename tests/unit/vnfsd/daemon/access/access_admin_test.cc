#include "vnfsd/daemon/access/access_admin.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include "common/kv/access_keys.h"
#include "common/kv/mem/mem_store.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/pki/request.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;

class AccessAdminTest : public ::testing::Test {
 protected:
  AccessAdminTest() { make("c1n1"); }
  ~AccessAdminTest() override {
    admin.reset();
    std::filesystem::remove_all(folder);
  }
  void make(const std::string& name) {
    admin.reset();
    Config config;
    config.cluster_name = "lab";
    config.head_name = name;
    config.head_address = "10.99.0.1";
    config.etcd.ca = folder + "/" + name + "/tls/ca.crt";
    head.emplace(ThisHead{store, clock, std::move(config), "boot"});
    admin.emplace(*head, [](std::string_view, const std::string&) {});
  }
  std::string token(const std::string& name, api::Role role = api::Role::kOperator,
                    std::int64_t lifetime_s = 0) {
    const auto made = admin->create_token({name, role, lifetime_s}, root, Mode::kCommit);
    EXPECT_TRUE(made) << made.error().message;
    return made ? (*made)["token"].get<std::string>() : "";
  }
  // A certificate of the API's authority, as symnas-apid would name it.
  api::Credential certificate(const std::string& name) {
    const auto request = pki::make_request(name);
    const auto made = admin->issue({name, request->request_pem, false, {}, 1}, root, Mode::kCommit);
    EXPECT_TRUE(made) << made.error().message;
    const auto facts = pki::certificate_facts((*made)["certificate"].get<std::string>());
    std::string print;
    for (const char c : facts->fingerprint) {
      print += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
      print += "0123456789abcdef"[c & 0xf];
    }
    return {"", print, facts->serial};
  }
  std::string refusal(const api::Credential& credential) {
    const auto caller = admin->authenticate(credential);
    EXPECT_FALSE(caller);
    if (caller) return "";
    EXPECT_EQ(caller.error().code, ErrorCode::kPermission);
    return caller.error().message;
  }
  static std::string temporary() {
    std::string path = "/tmp/access_admin_test.XXXXXX";
    return ::mkdtemp(path.data());
  }

  const std::string folder = temporary();
  const api::Caller root = api::root_caller();
  kv::MemStore store;
  env::ManualClock clock;
  std::optional<ThisHead> head;
  std::optional<AccessAdmin> admin;
};

TEST_F(AccessAdminTest, TokenAndCertificateTogetherAreSomebody) {
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));
  api::Credential credential = certificate("laptop");
  credential.token = token("ops");
  const auto caller = admin->authenticate(credential);
  ASSERT_TRUE(caller) << caller.error().message;
  EXPECT_EQ(caller->name, "ops");
  EXPECT_EQ(caller->role, api::Role::kOperator);
  EXPECT_EQ(caller->certificate, "laptop");

  api::Credential other = credential;
  other.token.back() = other.token.back() == '0' ? '1' : '0';
  EXPECT_NE(refusal(other).find("token"), std::string::npos);
  other = credential;
  other.certificate.back() = other.certificate.back() == '0' ? '1' : '0';
  EXPECT_NE(refusal(other).find("certificate"), std::string::npos);
  other = credential;
  other.serial = "";
  refusal(other);
  other.serial = "../token/ops";
  refusal(other);
}

TEST_F(AccessAdminTest, WhatIsRevokedIsRefusedByTheNextRequest) {
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));
  api::Credential credential = certificate("laptop");
  credential.token = token("ops");
  ASSERT_TRUE(admin->revoke_token("ops", Mode::kDryRun));
  ASSERT_TRUE(admin->authenticate(credential));
  ASSERT_TRUE(admin->revoke_token("ops", Mode::kCommit));
  EXPECT_NE(refusal(credential).find("revoked"), std::string::npos);
  const std::string old = credential.token;
  credential.token = token("ops");  // the name is free again
  EXPECT_NE(credential.token, old);
  ASSERT_TRUE(admin->authenticate(credential));
  make("c1n2");  // on another head
  ASSERT_TRUE(admin->revoke_certificate("laptop", root, Mode::kCommit));
  EXPECT_NE(refusal(credential).find("revoked"), std::string::npos);
  EXPECT_EQ(admin->revoke_certificate("laptop", root, Mode::kCommit).error().code,
            ErrorCode::kNotFound);
}

TEST_F(AccessAdminTest, ATokenEnds) {
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));
  api::Credential credential = certificate("laptop");
  credential.token = token("ops", api::Role::kViewer, 60);
  clock.advance_ns(59'000'000'000);
  ASSERT_TRUE(admin->authenticate(credential));
  clock.advance_ns(1'000'000'000);
  EXPECT_NE(refusal(credential).find("expired"), std::string::npos);
  EXPECT_EQ((*admin->tokens())["tokens"][0]["state"], "expired");
}

TEST_F(AccessAdminTest, NothingOfASecretIsKept) {
  const std::string text = token("ops");
  const std::string secret = text.substr(text.rfind('.') + 1);
  const auto all = kv::range_blocking(store, kv::prefix_range("a/"), 0, 1000);
  ASSERT_TRUE(all);
  for (const kv::KeyValue& kv : all->kvs)
    EXPECT_EQ(kv.value.find(secret.substr(0, 16)), std::string::npos) << kv.key;
  EXPECT_EQ((*admin->tokens()).dump().find(secret), std::string::npos);
}

TEST_F(AccessAdminTest, TokensHaveNamesOfTheirOwn) {
  token("ops");
  const auto again = admin->create_token({"ops", api::Role::kAdmin, 0}, root, Mode::kCommit);
  EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(admin->create_token({"a/b", api::Role::kAdmin, 0}, root, Mode::kCommit).error().code,
            ErrorCode::kInvalidArgument);
  const auto dry = admin->create_token({"dry", api::Role::kAdmin, 0}, root, Mode::kDryRun);
  ASSERT_TRUE(dry);
  EXPECT_FALSE(dry->contains("token"));
  EXPECT_EQ((*admin->tokens())["tokens"].size(), 1u);
}

TEST_F(AccessAdminTest, KeysAreRootsAndTheAuthorityIsOnOneHead) {
  EXPECT_EQ(admin->authority_pem().error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(admin->switch_on({"10.0.0.1"}, root, Mode::kCommit));
  for (const char* name : {"ca.key", "server.key"}) {
    struct stat found {};
    ASSERT_EQ(::stat((folder + "/c1n1/api/" + name).c_str(), &found), 0) << name;
    EXPECT_EQ(found.st_mode & 0777, 0600u) << name;
  }
  const std::string pem = *admin->authority_pem();
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));  // a new certificate, the same authority
  EXPECT_EQ(*admin->authority_pem(), pem);
  make("c1n2");
  const auto elsewhere = admin->switch_on({}, root, Mode::kCommit);
  ASSERT_FALSE(elsewhere);
  EXPECT_NE(elsewhere.error().message.find("c1n1"), std::string::npos);
}

TEST_F(AccessAdminTest, AKeyWhoseRecordIsOnItsWayIsKept) {
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));
  const std::string pem = *admin->authority_pem();
  kv::Txn txn;
  txn.success = {kv::erase(std::string(kv::keys::kAuthority))};
  ASSERT_TRUE(kv::txn_blocking(store, txn, 5000));
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));
  EXPECT_EQ(*admin->authority_pem(), pem);
  // Another head was quicker: the key that this one has made is of no authority.
  ASSERT_TRUE(kv::txn_blocking(store, txn, 5000));
  make("c1n2");
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));
  make("c1n1");
  const auto late = admin->switch_on({}, root, Mode::kCommit);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("its key is on head c1n2"), std::string::npos);
}

TEST_F(AccessAdminTest, AListenersCertificateOpensNothing) {
  ASSERT_TRUE(admin->switch_on({}, root, Mode::kCommit));
  const auto pem = instance::read_file(folder + "/c1n1/api/server.crt");
  ASSERT_TRUE(pem);
  api::Credential credential = certificate("laptop");
  credential.token = token("ops");
  credential.serial = pki::certificate_facts(*pem)->serial;
  refusal(credential);
}

TEST_F(AccessAdminTest, ItsAuditLogIsOnEveryHead) {
  api::AuditEntry entry{{"ops", api::Role::kViewer, "10.1.2.3", "laptop"},
                        "POST",
                        std::string("/v1/x\n\xff"),
                        "permission",
                        std::string(1000, 'x')};
  admin->record(entry);
  entry.caller = root;
  entry.caller.login_uid = "1000";
  admin->record(entry);
  make("c1n2");
  const auto page = admin->audit({});
  ASSERT_TRUE(page);
  ASSERT_EQ((*page)["entries"].size(), 2u);
  const json& first = (*page)["entries"][0];
  EXPECT_EQ(first["head"], "c1n1");
  EXPECT_EQ(first["who"], "ops");
  EXPECT_EQ(first["from"], "10.1.2.3");
  EXPECT_EQ(first["text"].get<std::string>().size(), 400u);
  EXPECT_EQ((*page)["entries"][1]["login_uid"], "1000");
  const auto later = admin->audit(Revision((*page)["revision"].get<std::int64_t>()));
  EXPECT_TRUE((*later)["entries"].empty());
}

TEST_F(AccessAdminTest, TheAuditLogIsBounded) {
  for (int i = 0; i < 600; ++i) {
    clock.advance_ns(1);
    admin->record({root, "POST", "/v1/" + std::to_string(i), "done", ""});
    if (i % 100 == 99) make("c1n1");  // goes on where the last vnfsd ended
  }
  const auto page = admin->audit({});
  ASSERT_TRUE(page);
  EXPECT_EQ((*page)["entries"].size(), 512u);
  EXPECT_EQ((*page)["entries"].back()["path"], "/v1/599");
}

TEST_F(AccessAdminTest, WhoIsRefusedAgainAndAgainPushesNobodyOut) {
  admin->record({root, "POST", "/v1/networks", "done", ""});
  const api::Caller viewer{"ops", api::Role::kViewer, "10.1.2.3", "laptop"};
  for (int i = 0; i < 600; ++i) {
    clock.advance_ns(1);
    admin->record({viewer, "POST", "/v1/" + std::to_string(i), "permission", ""});
    if (i % 100 == 99) make("c1n1");
  }
  const auto page = admin->audit({});
  ASSERT_TRUE(page);
  ASSERT_EQ((*page)["entries"].size(), 33u);
  EXPECT_EQ((*page)["entries"][0]["path"], "/v1/networks");
  EXPECT_EQ((*page)["entries"].back()["path"], "/v1/599");
}

TEST(AuditLine, NobodyForgesOne) {
  records::AuditRecord entry;
  entry.set_who("ops");
  entry.set_role("viewer");
  entry.set_method("POST");
  entry.set_path("/v1/x\naudit: who=\"root\"");
  entry.set_outcome("done");
  entry.set_text("\xff");
  const std::string line = audit_line(entry);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line,
            "audit: who=\"ops\" role=viewer from=\"\" certificate=\"\" login_uid=\"\" "
            "request=\"POST /v1/x\\naudit: who=\\\"root\\\"\" outcome=done text=\"\\ufffd\"");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
