#include "vnfsd/support/bundle.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/support/unpacked.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/support/limits.h"

namespace symnas::vnfsd::support {
namespace {

using nlohmann::json;

class BundleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "symnas-bundle-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    top = pattern;
    request = {top + "/out.tar.gz", top + "/etc/vnfsd.toml", Programs::kLeaveOut};
  }
  void TearDown() override { EXPECT_TRUE(instance::remove_tree(top)); }
  void write(const std::string& path, const std::string& text) const {
    const std::string whole = top + "/" + path;
    ASSERT_TRUE(instance::make_directories(whole.substr(0, whole.rfind('/'))));
    ASSERT_TRUE(instance::write_file_atomically(whole, text, 0600));
  }
  void write_head() const {
    write("etc/vnfsd.toml",
          "[cluster]\nname = \"lab\"\nuuid = \"0e8c7a52-3c44-4b4e-9d0c-0a1b2c3d4e5f\"\n"
          "[head]\nname = \"c1n1\"\naddress = \"10.99.0.1\"\nadmission = \"Secret-admission\"\n"
          "[etcd]\nendpoints = [\"https://10.99.0.1:2379\"]\nca = \"/t/ca.crt\"\n"
          "cert = \"/t/head.crt\"\nkey = \"/t/head.key\"\n[daemon]\nrun_dir = \"" +
              top + "/run\"\nlog_dir = \"" + top +
              "/log\"\n[fence]\nagent = \"/bin/true\"\noptions = [\"passwd=Secret-pw\", "
              "\"odd=Secret-odd\"]\n");
    write("etc/etcd.yml", "name: c1n1\n# Secret-comment\n");
    write("etc/tls/head.key", "-----BEGIN PRIVATE KEY-----\nSecret-key\n");
    write("log/vnfs1.log", "started\nagent was given Secret-odd and passwd=Secret-other\n");
    write("log/vnfs1.log.1", "-----BEGIN PRIVATE KEY-----\nSecret-key\n");
    write("log/head.key", "Secret-key");
    write("log/x.log.keytab", "Secret-keytab");
    ASSERT_EQ(::symlink((top + "/etc/tls/head.key").c_str(), (top + "/log/link.log").c_str()), 0);
    write("run/vnfs/vnfs1/state.json", R"({"pid": 0, "fence_passwd": "Secret-state"})");
    write("run/vnfs/vnfs1/instance.json", "no JSON, passwd=Secret-instance");
    write("run/vnfs/vnfs1/ganesha.conf", "NFS { }\n");
  }
  static std::string part(const std::map<std::string, std::string>& members,
                          const std::string& name) {
    const auto found = members.find("symnas-support/" + name);
    return found == members.end() ? "(no " + name + ")" : found->second;
  }
  std::string top;
  BundleRequest request;
};

TEST_F(BundleTest, HoldsTheHeadWithoutItsSecrets) {
  write_head();
  std::vector<std::string> asked;
  const Agent agent = {
      [&](const std::string& path, int) -> Result<json> {
        asked.push_back(path);
        if (path == "/v1/vnfs") return json{{"vnfs", {{{"name", "vnfs1"}}}}};
        return json{{"said", "by Secret-odd"}, {"probe_key", "Secret-probe"}};
      },
      [](const std::string&, int) -> Result<std::string> { return "symnas_up 1\n"; }};
  const auto taken = make_bundle(request, agent);
  ASSERT_TRUE(taken) << taken.error().message;
  const auto members = unpacked(request.out);
  EXPECT_EQ(members.size(), taken->members + 1) << "and the MANIFEST";
  for (const auto& [name, text] : members)
    EXPECT_EQ((name + text).find("Secret"), std::string::npos) << name << ": " << text;
  EXPECT_NE(part(members, "configuration/vnfsd.toml").find("passwd=(left out)"), std::string::npos);
  EXPECT_EQ(part(members, "configuration/etcd.yml"), "name: c1n1\n");
  EXPECT_EQ(part(members, "records/metrics"), "symnas_up 1\n");
  EXPECT_NE(part(members, "records/history/vnfs1.json").find("by (left out)"), std::string::npos);
  EXPECT_NE(part(members, "logs/vnfs1.log").find("started\n"), std::string::npos);
  EXPECT_EQ(part(members, "instances/vnfs1/ganesha.conf"), "NFS { }\n");
  EXPECT_NE(part(members, "versions/kernel").find("Linux"), std::string::npos);
  EXPECT_NE(part(members, "MANIFEST").find("missing    logs/link.log"), std::string::npos);
  EXPECT_NE(std::ranges::find(asked, "/v1/vnfs/vnfs1/history"), asked.end());
}

TEST_F(BundleTest, VnfsdThatDoesNotAnswerIsAskedOnce) {
  int asked = 0;
  const Agent agent = {[&](const std::string&, int) -> Result<json> {
                         ++asked;
                         return fail(ErrorCode::kShutdown, "vnfsd: no answer");
                       },
                       [&](const std::string&, int) -> Result<std::string> {
                         ++asked;
                         return "";
                       }};
  ASSERT_TRUE(make_bundle(request, agent));
  EXPECT_EQ(asked, 1);
  const auto members = unpacked(request.out);
  const std::string manifest = part(members, "MANIFEST");
  for (const char* line : {"missing    records/status.json: vnfsd: no answer\n",
                           "missing    records/metrics: vnfsd does not answer\n",
                           "missing    configuration/vnfsd.toml: ", "missing    logs: "})
    EXPECT_NE(manifest.find(line), std::string::npos) << line << " is not in " << manifest;
}

TEST_F(BundleTest, WhatProgramsSayIsStruckToo) {
  auto archive = Archive::create(request.out);
  ASSERT_TRUE(archive);
  Secrets secrets;
  secrets.add("Secret-odd");
  Collector collector(*archive, std::move(secrets));
  EXPECT_TRUE(collector.program("said", "/bin/echo", {"Secret-odd", "passwd=Secret"}));
  EXPECT_TRUE(collector.program("failed", "/bin/false", {}));
  EXPECT_TRUE(collector.program("gone", "/no/such/program", {}));
  EXPECT_TRUE(collector.text(std::string(100, 'n'), "of too long a name"));
  ASSERT_TRUE(collector.finish());
  const auto members = unpacked(request.out);
  EXPECT_EQ(part(members, "said"), "(left out) passwd=(left out)\n");
  const std::string manifest = part(members, "MANIFEST");
  for (const char* line : {"failed (exit status 1)\n", "missing    gone: ", "missing    nnnn"})
    EXPECT_NE(manifest.find(line), std::string::npos) << line << " is not in " << manifest;
}

TEST_F(BundleTest, OfALongFileTheEndIsRead) {
  write("long.log", "first\n" + std::string(kMemberBytesMax, 'x') + "\nlast\n");
  EXPECT_EQ(read_end(top + "/long.log").value_or(""), "last\n");
  ASSERT_EQ(::mkfifo((top + "/fifo.log").c_str(), 0600), 0);
  EXPECT_EQ(read_end(top + "/fifo.log").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_end(top + "/none.log").error().code, ErrorCode::kNotFound);
}

TEST(BundleNameTest, SaysWhereAndWhen) {
  EXPECT_EQ(default_bundle_name("c1n1", 1'767'323'045),
            "symnas-support-c1n1-20260102T030405Z.tar.gz");
}

}  // namespace
}  // namespace symnas::vnfsd::support
