#include "vnfsd/daemon/monitor/metrics_keeper.h"

#include <filesystem>
#include <fstream>

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/metrics/page_file.h"
#include "vnfsd/pki/authority.h"

namespace symnas::vnfsd::daemon {
namespace {

class MetricsKeeperTest : public HeadWorld {
 protected:
  MetricsKeeperTest() : HeadWorld(with_folders()) {
    std::filesystem::create_directories(head.config.daemon.run_dir);
  }
  ~MetricsKeeperTest() override {
    end.request_stop();
    std::filesystem::remove_all(head.config.daemon.run_dir);
  }
  static Config with_folders() {
    Config config = config_of("c1n3");
    config.etcd.ca = config.daemon.run_dir + "/etc/tls/ca.crt";  // is not there
    return config;
  }
  bool shows(const std::string& line) {
    return keeper.text().find("\n" + line + "\n") != std::string::npos;
  }

  std::stop_source end;
  FakeInstances instances;
  Journal journal{head, [] {}};
  LunKeeper luns{head, {}, [] {}};
  FenceMeans means{head, nullptr, {}, end.get_token()};
  FakeFenceOrders fences;
  Fencing fencing{{head, reader, journal.events, journal.history, means}};
  HeadWatcher heads{{head, reader, journal.events, fences, nullptr, {}}, end.get_token()};
  StallWatcher stalls{head, reader, instances, fencing, end.get_token()};
  Upkeep upkeep{{head, reader, journal.events, journal.quota, means, nullptr, {}}, end.get_token()};
  MetricsKeeper keeper{{head, reader, journal, luns, instances, means, heads, stalls, upkeep},
                       [](const std::string&, int) { return InstanceReader::Said{}; },
                       end.get_token()};
};

TEST_F(MetricsKeeperTest, ShowsWhatTheComponentsHaveSeen) {
  builder.three_heads().basics().vnfs1().owner("vnfs1", "c1n2");
  reader.copy = builder.view();
  instances.all["vnfs2"].phase = instance::Phase::kStarting;
  instances.all["vnfs2"].error = "no export";
  keeper.look();
  EXPECT_TRUE(shows("symnas_vnfs_owner{vnfs=\"vnfs1\",head=\"c1n2\"} 1")) << keeper.text();
  EXPECT_TRUE(shows("symnas_instance_up{head=\"c1n3\",vnfs=\"vnfs2\"} 0"));
  EXPECT_TRUE(shows("symnas_instance_problem{head=\"c1n3\",vnfs=\"vnfs2\"} 1"));
  EXPECT_TRUE(shows("symnas_fencing_ready{head=\"c1n3\"} 0")) << "nothing is configured";
  EXPECT_TRUE(shows("symnas_records_known{head=\"c1n3\"} 1"));
}

TEST_F(MetricsKeeperTest, ArrivalsThatMayComeAreThereWithNothing) {
  builder.three_heads().basics().vnfs1({"c1n1", "c1n3"});
  reader.copy = builder.view();
  keeper.look();
  const std::string labels = "{head=\"c1n3\",vnfs=\"vnfs1\",cause=\"failover\"";
  EXPECT_TRUE(shows("symnas_vnfs_arrivals_total" + labels + "} 0")) << keeper.text();
  EXPECT_TRUE(shows("symnas_vnfs_blackout_seconds_bucket" + labels + ",le=\"0.5\"} 0"));
}

TEST_F(MetricsKeeperTest, ThePageIsAFileForTheListener) {
  keeper.look();
  const auto page = metrics::read_page(page_directory(head.config));
  ASSERT_TRUE(page);
  EXPECT_TRUE(keeper.text().starts_with(page->text));
}

TEST_F(MetricsKeeperTest, ShowsWhenTheCertificatesOfTheApiEnd) {
  const auto authority = pki::Authority::create("symnas API of c1");
  ASSERT_TRUE(authority);
  const std::string folder = head.config.daemon.run_dir + "/etc";
  std::filesystem::create_directories(folder + "/api");
  std::ofstream(folder + "/api/ca.crt") << authority->certificate_pem();
  keeper.look();
  const std::string name = "symnas_api_certificate_expiry_timestamp_seconds{head=\"c1n3\",file=\"";
  EXPECT_NE(keeper.text().find("\n" + name + folder + "/api/ca.crt\"} "), std::string::npos)
      << keeper.text();
  EXPECT_EQ(keeper.text().find(name + folder + "/api/server.crt"), std::string::npos);
}

TEST_F(MetricsKeeperTest, WhatIsShownBecomesOld) {
  keeper.look();
  pass_ms(2'500);
  EXPECT_TRUE(shows("symnas_page_age_seconds 2.500"));
}

TEST_F(MetricsKeeperTest, APageThatCannotBeWrittenIsShownToRootAllTheSame) {
  std::ofstream(page_directory(head.config)) << "in the way";
  keeper.look();
  EXPECT_FALSE(metrics::read_page(page_directory(head.config)));
  EXPECT_TRUE(shows("symnas_records_known{head=\"c1n3\"} 0"));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
