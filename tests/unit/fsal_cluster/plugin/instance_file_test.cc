#include "fsal_cluster/plugin/instance_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::plugin {
namespace {

constexpr char kComplete[] = R"({
  "head": "c1n1", "vnfs": "vnfs1", "vnfs_id": 3, "epoch": 17, "incarnation": "boot",
  "owner_key": "c/owner/vnfs1", "owner_mod_revision": 123,
  "etcd": {"endpoints": ["https://10.99.0.1:2379"], "ca": "ca.pem", "cert": "c.pem", "key": "k.pem",
    "quota_bytes": 5000000000},
  "head_netns": "/proc/self/fd/9",
  "luns": [{"name": "LUN0", "uuid": "6b1b0b4a-6d1e-4c8e-9f0a-2f6d5d0f7a11", "path": "/dev/sda"}]})";

TEST(InstanceFile, ReadsEveryField) {
  const auto file = parse_instance_file(kComplete, "test");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->vnfs_id, VnfsId{3});
  EXPECT_EQ(file->epoch, Epoch{17});
  EXPECT_EQ(file->owner_mod_revision, Revision{123});
  EXPECT_EQ(file->etcd_endpoints, std::vector<std::string>{"https://10.99.0.1:2379"});
  EXPECT_EQ(file->etcd_quota_bytes, 5'000'000'000);
  EXPECT_EQ(file->head_netns, "/proc/self/fd/9");
  ASSERT_EQ(file->luns.size(), 1u);
  EXPECT_EQ(file->luns[0].path, "/dev/sda");
}

TEST(InstanceFile, ReadsExports) {
  std::string text = kComplete;
  text.insert(text.rfind('}'), R"(, "exports": [{"id": 5, "pseudo": "/a", "block": "EXPORT {}"}])");
  const auto file = parse_instance_file(text, "test");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->exports.size(), 1u);
  EXPECT_EQ(file->exports[0].id, 5);
  EXPECT_EQ(file->exports[0].pseudo, "/a");
  EXPECT_EQ(file->exports[0].block, "EXPORT {}");
  EXPECT_TRUE(parse_instance_file(kComplete, "test")->exports.empty());
}

TEST(InstanceFile, ReadsKerberos) {
  std::string text = kComplete;
  text.insert(text.rfind('}'), R"(, "kerberos": {"keytab": "/k", "realm": "R", "domain": "r"})");
  const auto file = parse_instance_file(text, "test");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->kerberos);
  EXPECT_EQ(file->kerberos->keytab, "/k");
  EXPECT_EQ(file->kerberos->realm, "R");
  EXPECT_EQ(file->kerberos->domain, "r");
  EXPECT_FALSE(parse_instance_file(kComplete, "test")->kerberos);
}

TEST(InstanceFile, NamesTheMissingField) {
  std::string text = kComplete;
  text.replace(text.find("\"epoch\""), 7, "\"epocc\"");
  const auto file = parse_instance_file(text, "/run/x.json");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(file.error().message.find("epoch"), std::string::npos);
  EXPECT_NE(file.error().message.find("/run/x.json"), std::string::npos);
}

TEST(InstanceFile, RefusesAnEmptyEndpointList) {
  std::string text = kComplete;
  text.replace(text.find("\"https://10.99.0.1:2379\""), 24, "");
  EXPECT_FALSE(parse_instance_file(text, "test"));
}

TEST(InstanceFile, RefusesWhatIsNoJson) { EXPECT_FALSE(parse_instance_file("vnfs1", "test")); }

TEST(InstanceFile, SaysWhichFileIsMissing) {
  const auto file = read_instance_file("/nonexistent/instance.json");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::plugin
