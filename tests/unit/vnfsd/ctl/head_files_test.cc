#include "vnfsd/ctl/head_files.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "vnfsd/instance/files.h"
#include "vnfsd/pki/authority.h"

namespace symnas::vnfsd::ctl {
namespace {

using instance::read_file;

class HeadFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "symnas-head-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    top = pattern;
    request = {"lab", "c1n1", "10.99.0.1", places("one")};
  }
  void TearDown() override { EXPECT_TRUE(instance::remove_tree(top)); }
  HeadPlaces places(const std::string& head) const {
    HeadPlaces p;
    p.config_dir = top + "/" + head + "/etc";
    p.etcd_dir = top + "/" + head + "/etcd";
    p.run_dir = top + "/" + head + "/run";
    return p;
  }
  mode_t mode_of(const std::string& path) const {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777;
  }
  std::string top;
  ClusterInit request;
};

TEST_F(HeadFilesTest, InitWritesAWholeHead) {
  const auto done = init_cluster(request, Mode::kCommit);
  ASSERT_TRUE(done) << done.error().message;
  const std::string etc = request.places.config_dir;
  const auto config = load_config(etc + "/vnfsd.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cluster_name, "lab");
  EXPECT_EQ(config->etcd.endpoints, std::vector<std::string>{"https://10.99.0.1:2379"});
  EXPECT_EQ(config->daemon.log_dir, request.places.run_dir + "/log");
  EXPECT_TRUE(pki::Authority::load(*read_file(config->etcd.ca), *read_file(etc + "/tls/ca.key")));
  EXPECT_EQ(mode_of(etc + "/tls/ca.key"), 0600u);
  EXPECT_EQ(mode_of(etc + "/tls/head.key"), 0600u);
  EXPECT_EQ(mode_of(etc + "/vnfsd.toml"), 0600u);
  EXPECT_EQ(mode_of(etc + "/tls"), 0700u);
  EXPECT_EQ(mode_of(request.places.etcd_dir), 0700u);
  EXPECT_NE(read_file(etc + "/etcd.yml")
                ->find("initial-cluster-token: \"" + config->cluster_uuid.to_string() + "\""),
            std::string::npos);
}

TEST_F(HeadFilesTest, InitOverwritesNothing) {
  ASSERT_TRUE(init_cluster(request, Mode::kCommit));
  const std::string before = *read_file(request.places.config_dir + "/vnfsd.toml");
  EXPECT_EQ(init_cluster(request, Mode::kCommit).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(*read_file(request.places.config_dir + "/vnfsd.toml"), before);
}

TEST_F(HeadFilesTest, DryRunWritesNothing) {
  ASSERT_TRUE(init_cluster(request, Mode::kDryRun));
  EXPECT_FALSE(read_file(request.places.config_dir + "/vnfsd.toml"));
}

TEST_F(HeadFilesTest, BadInputIsRefusedBeforeAnythingIsWritten) {
  const auto refused = [&](auto change) {
    ClusterInit bad = request;
    change(bad);
    const auto done = init_cluster(bad, Mode::kCommit);
    EXPECT_FALSE(done);
    return !done && !read_file(request.places.config_dir + "/tls/ca.crt");
  };
  EXPECT_TRUE(refused([](auto& r) { r.cluster = "a b"; }));
  EXPECT_TRUE(refused([](auto& r) { r.head = "a.b"; }));
  EXPECT_TRUE(refused([](auto& r) { r.address = "here"; }));
  EXPECT_TRUE(refused([](auto& r) { r.address = "fd00::1"; }));
  EXPECT_TRUE(refused([](auto& r) { r.places.run_dir = "relative"; }));
  EXPECT_TRUE(refused([](auto& r) { r.quota_bytes = 1 << 20; }));
  EXPECT_TRUE(refused([](auto& r) { r.places.plugin_dir = "/a\"b"; }));
}

TEST_F(HeadFilesTest, OneQuotaForEtcdAndForVnfsd) {
  request.quota_bytes = 64 << 20;
  ASSERT_TRUE(init_cluster(request, Mode::kCommit));
  const std::string etcd = *read_file(request.places.config_dir + "/etcd.yml");
  EXPECT_NE(etcd.find("quota-backend-bytes: 67108864\n"), std::string::npos) << etcd;
  const auto config = load_config(request.places.config_dir + "/vnfsd.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->etcd.quota_bytes, 64 << 20);
}

TEST_F(HeadFilesTest, JoinInstallsTheBundle) {
  const pki::Authority authority = *pki::Authority::create("symnas lab");
  const pki::Identity identity = *authority.issue("c1n2", {"10.99.0.2"});
  const Bundle bundle{"lab",
                      Uuid::generate(),
                      "c1n2",
                      "10.99.0.2",
                      {"https://10.99.0.1:2379"},
                      {},
                      authority.certificate_pem(),
                      identity.certificate_pem,
                      identity.key_pem,
                      std::int64_t{3} << 30,
                      "admitted"};
  HeadPlaces p = places("two");
  p.lun_paths = {"/luns/*"};
  p.fence_reservations = true;
  ASSERT_TRUE(join_cluster(bundle, p, Mode::kCommit));
  const auto config = load_config(p.config_dir + "/vnfsd.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->head_name, "c1n2");
  EXPECT_EQ(config->cluster_uuid, bundle.cluster_uuid);
  EXPECT_EQ(config->admission, "admitted");
  EXPECT_EQ(config->etcd.endpoints, bundle.endpoints);
  EXPECT_EQ(config->etcd.quota_bytes, std::int64_t{3} << 30);
  EXPECT_EQ(config->daemon.lun_paths, p.lun_paths);
  EXPECT_TRUE(config->fence.persistent_reservations);
  EXPECT_EQ(*read_file(config->etcd.key), identity.key_pem);
  EXPECT_EQ(mode_of(config->etcd.key), 0600u);
  EXPECT_FALSE(read_file(p.config_dir + "/tls/ca.key"));
  EXPECT_FALSE(read_file(p.config_dir + "/etcd.yml"));
  EXPECT_EQ(join_cluster(bundle, p, Mode::kCommit).error().code, ErrorCode::kAlreadyExists);
}

// A password on a command line is in /proc and in the history of the shell.
TEST_F(HeadFilesTest, OptionsOfTheFenceAgentComeFromAFile) {
  using Options = std::vector<std::string>;
  HeadPlaces p = places("one");
  p.fence_options = {"ip=10.99.1.9"};
  std::istringstream in("# who and what\nusername=fence\n\npassword=a=b #c\n");
  EXPECT_EQ(with_fence_options(p, in)->fence_options, Options{"ip=10.99.1.9"});
  p.fence_options_file = "-";
  EXPECT_EQ(with_fence_options(p, in)->fence_options,
            (Options{"ip=10.99.1.9", "username=fence", "password=a=b #c"}));
  p.fence_options_file = top + "/options";
  std::istringstream none;
  EXPECT_EQ(with_fence_options(p, none).error().code, ErrorCode::kNotFound);
  std::ofstream(p.fence_options_file) << "password=x\nsecret\n";
  const auto refused = with_fence_options(p, none);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("line 2"), std::string::npos);
  EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
}

TEST_F(HeadFilesTest, JoinOfAnEtcdMemberWritesItsConfiguration) {
  const Bundle bundle{"lab",
                      Uuid::generate(),
                      "c1n2",
                      "10.99.0.2",
                      {"https://10.99.0.1:2379"},
                      {"c1n1=https://10.99.0.1:2380", "c1n2=https://10.99.0.2:2380"},
                      "ca",
                      "certificate",
                      "key",
                      std::int64_t{3} << 30,
                      "admitted"};
  const HeadPlaces p = places("two");
  const auto done = join_cluster(bundle, p, Mode::kCommit);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_NE(done->find("etcd --config-file"), std::string::npos) << *done;
  const std::string etcd = *read_file(p.config_dir + "/etcd.yml");
  EXPECT_NE(etcd.find("initial-cluster: \"c1n1=https://10.99.0.1:2380,c1n2=https://10.99.0.2:2380"
                      "\"\ninitial-cluster-state: \"existing\"\n"),
            std::string::npos)
      << etcd;
  EXPECT_EQ(mode_of(p.etcd_dir), 0700u);
}

TEST(EtcdConfig, Golden) {
  HeadPlaces places;
  EXPECT_EQ(render_etcd_config({"c1n1", "10.99.0.1", "token", {}, 8589934592}, places),
            R"(# etcd member of head c1n1. Written by symnas.
name: "c1n1"
data-dir: "/var/lib/symnas/etcd"
listen-client-urls: "https://10.99.0.1:2379,https://127.0.0.1:2379"
advertise-client-urls: "https://10.99.0.1:2379"
listen-peer-urls: "https://10.99.0.1:2380"
initial-advertise-peer-urls: "https://10.99.0.1:2380"
initial-cluster: "c1n1=https://10.99.0.1:2380"
initial-cluster-state: "new"
initial-cluster-token: "token"
# A survivor's writes stall for one election when the leader dies: 0.6 s with these.
heartbeat-interval: 50
election-timeout: 500
# Group commit puts many operations into one transaction.
max-txn-ops: 2048
quota-backend-bytes: 8589934592
# Nanoseconds: heads notice a dead connection within a second.
grpc-keepalive-min-time: 1000000000
# History is discarded by vnfsd.
logger: "zap"
log-level: "warn"
client-transport-security:
  cert-file: "/etc/symnas/tls/head.crt"
  key-file: "/etc/symnas/tls/head.key"
  trusted-ca-file: "/etc/symnas/tls/ca.crt"
  client-cert-auth: true
peer-transport-security:
  cert-file: "/etc/symnas/tls/head.crt"
  key-file: "/etc/symnas/tls/head.key"
  trusted-ca-file: "/etc/symnas/tls/ca.crt"
  client-cert-auth: true
)");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
