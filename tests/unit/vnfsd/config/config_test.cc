#include "vnfsd/config/config.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

constexpr const char* kMinimal = R"(
[cluster]
name = "lab"
uuid = "00112233-4455-6677-8899-aabbccddeeff"
[head]
name = "c1n1"
address = "10.99.0.1"
[etcd]
endpoints = ["https://10.99.0.1:2379"]
ca = "/e/ca.crt"
cert = "/e/head.crt"
key = "/e/head.key"
)";

std::string error_of(const std::string& text) {
  const auto config = parse_config(text, "t.toml");
  return config ? "" : config.error().message;
}

TEST(Config, DefaultsFillIn) {
  const auto config = parse_config(kMinimal, "t.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cluster_uuid.to_string(), "00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(config->daemon.socket, "/run/symnas/vnfsd.sock");
  EXPECT_EQ(config->ganesha.plugin_dir, "/usr/lib/symnas/ganesha/lib/ganesha");
  EXPECT_EQ(config->etcd.compact_keep_s, 600);
  EXPECT_EQ(config->failback.settle_s, 60);
  EXPECT_FALSE(config->detection.corosync);
}

TEST(Config, SocketFollowsRunDir) {
  const auto config =
      parse_config(std::string(kMinimal) + "[daemon]\nrun_dir = \"/r\"\n", "t.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->daemon.socket, "/r/vnfsd.sock");
}

// Earlier versions refuse a section that they do not know.
TEST(Config, DetectionIsWrittenOnlyWhereCorosyncIsAsked) {
  Config config = *parse_config(kMinimal, "t.toml");
  EXPECT_EQ(render_config(config).find("detection"), std::string::npos);
  config.detection.corosync = true;
  EXPECT_TRUE(parse_config(render_config(config), "again")->detection.corosync);
}

TEST(Config, MetricsAreServedWhereItSays) {
  Config config = *parse_config(kMinimal, "t.toml");
  EXPECT_EQ(config.metrics.listen, "");
  EXPECT_EQ(render_config(config).find("metrics"), std::string::npos);
  config.metrics = {"10.99.0.1:9641", "/c.pem", "/k.pem", "/ca.pem"};
  const auto again = parse_config(render_config(config), "again");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->metrics.listen, "10.99.0.1:9641");
  EXPECT_EQ(again->metrics.cert + again->metrics.key + again->metrics.client_ca,
            "/c.pem/k.pem/ca.pem");
  for (const char* wrong : {"listen = \"9641\"", "listen = \"10.99.0.1:0\"", "cert = \"/c\"",
                            "client_ca = \"/ca\"", "cert = \"c\"\nkey = \"k\""}) {
    EXPECT_FALSE(parse_config(std::string(kMinimal) + "[metrics]\n" + wrong + "\n", "t.toml"))
        << wrong;
  }
}

TEST(Config, RenderedReadsBackEqual) {
  Config config = *parse_config(kMinimal, "t.toml");
  config.daemon.lun_paths = {"/dev/disk/by-id/*", "/with 'quote' and \"double\"/x"};
  config.ganesha.threads_max = 77;
  config.etcd.compact_interval_s = 5;
  config.failback.settle_s = 5;
  config.admission = "an id";
  config.fence = {true,   "/opt/symnas-fence", "/usr/sbin/fence_x", {"ipaddr=10.9.9.9"}, 30, false,
                  "power"};
  const auto again = parse_config(render_config(config), "again");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(render_config(*again), render_config(config));
  EXPECT_EQ(again->daemon.lun_paths, config.daemon.lun_paths);
  EXPECT_EQ(again->ganesha.threads_max, 77);
  EXPECT_TRUE(again->fence.persistent_reservations);
  EXPECT_EQ(again->fence.reservation_program, "/opt/symnas-fence");
  EXPECT_EQ(again->fence.agent, "/usr/sbin/fence_x");
  EXPECT_EQ(again->fence.options, config.fence.options);
  EXPECT_EQ(again->fence.timeout_s, 30);
  EXPECT_EQ(again->fence.automatic, false);
  EXPECT_EQ(again->fence.cuts, "power");
  EXPECT_EQ(again->failback.settle_s, 5);
  EXPECT_EQ(again->admission, "an id");
}

TEST(Config, SaysWhatIsWrong) {
  const std::string ok = kMinimal;
  EXPECT_EQ(error_of(ok + "[daemon]\nrun_dirr = \"/r\"\n"),
            "t.toml: [daemon] run_dirr: is not a known setting");
  EXPECT_EQ(error_of(ok + "[deamon]\n"), "t.toml: 'deamon' is not a known section");
  EXPECT_EQ(error_of(ok + "[fence]\nagent = \"fence_x\"\n"),
            "t.toml: [fence] agent: must be an absolute path");
  EXPECT_EQ(error_of(ok + "[fence]\npersistent_reservations = \"yes\"\n"),
            "t.toml: [fence] persistent_reservations: must be true or false");
  EXPECT_EQ(error_of(ok + "[fence]\nreservation_program = \"symnas-fence\"\n"),
            "t.toml: [fence] reservation_program: must be an absolute path");
  EXPECT_EQ(error_of(ok + "[fence]\nautomatic = 1\n"),
            "t.toml: [fence] automatic: must be true or false");
  EXPECT_EQ(error_of(ok + "[fence]\noptions = [\"ipaddr\"]\n"),
            "t.toml: [fence] options: must be a list of \"key=value\"");
  EXPECT_EQ(error_of(ok + "[daemon]\nrun_dir = \"r\"\n"),
            "t.toml: [daemon] run_dir: must be an absolute path");
  EXPECT_EQ(error_of(ok + "[ganesha]\nthreads_max = 1\n"),
            "t.toml: [ganesha] threads_max: must be a whole number from 2 to 4096");
  EXPECT_EQ(error_of(ok + "[ganesha]\nthreads_max = \"9\"\n"),
            "t.toml: [ganesha] threads_max: must be a whole number from 2 to 4096");
  EXPECT_EQ(
      error_of(ok + "[ganesha]\nlog_level = \"LOUD\"\n"),
      "t.toml: [ganesha] log_level: must be one of ganesha's levels (EVENT, INFO, DEBUG, ...)");
  EXPECT_EQ(error_of("[cluster]\nname = \"lab\"\n"), "t.toml: [cluster] uuid: is missing");
  EXPECT_NE(error_of("[cluster\n").find("t.toml: line 1"), std::string::npos);
}

TEST(Config, MissingFileIsNotFound) {
  EXPECT_EQ(load_config("/nonexistent/vnfsd.toml").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::vnfsd
