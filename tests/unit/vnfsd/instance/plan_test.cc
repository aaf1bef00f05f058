#include "vnfsd/instance/plan.h"

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd::instance {
namespace {

TEST(InstancePlan, VipsOfOneNetworkShareALink) {
  ViewBuilder builder;
  builder.basics();
  builder.apply([](const ClusterView& v) {
    return plan_network_create(v, {"nfs1", "eth2", 9000, "10.1.0.1,fe80::1"});
  });
  builder.apply([](const ClusterView& v) {
    VnfsRequest r = ViewBuilder::vnfs();
    r.vips = {"10.0.0.101/24", "10.1.0.101/24", "10.0.0.102/24", "fd00::101/64"};
    r.networks = {"nfs0", "nfs1", "nfs0", "nfs1"};
    return plan_vnfs_create(v, r);
  });
  Config config;
  const auto plan = plan_instance(builder.view(), config, "vnfs1");
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->links.size(), 2u);
  EXPECT_EQ(plan->links[0].device, "eth1");
  EXPECT_EQ(plan->links[0].link, "nfs0");
  EXPECT_EQ(plan->links[0].vips.size(), 2u);
  EXPECT_EQ(plan->links[1].device, "eth2");
  EXPECT_EQ(plan->links[1].mtu, 9000u);
  EXPECT_EQ(plan->links[1].gateway, "10.1.0.1,fe80::1");
  EXPECT_EQ(plan->links[1].vips.size(), 2u);
  EXPECT_EQ(plan->owner_key, "c/owner/vnfs1");
  EXPECT_EQ(plan->exports.size(), 1u);
}

TEST(InstancePlan, VanishedVnfsIsNotFound) {
  ViewBuilder builder;
  EXPECT_EQ(code_of(plan_instance(builder.view(), Config{}, "vnfs1")), ErrorCode::kNotFound);
}

// An edit of exports between a standby's start and its claim: it has parsed the old ones.
TEST(InstancePlan, AStandbyIsCalledOnlyWithTheExportsThatItHasParsed) {
  ViewBuilder builder;
  builder.basics().vnfs1();
  auto prepared = *plan_instance(builder.view(), Config{}, "vnfs1");
  prepared.epoch = Epoch(3);
  auto claimed = prepared;
  EXPECT_TRUE(may_call(prepared, claimed));
  claimed.epoch = Epoch(4);
  EXPECT_FALSE(may_call(prepared, claimed));
  builder.apply([](const ClusterView& v) {
    return plan_export_set(v,
                           {"u04", std::nullopt, "ro", std::nullopt, std::nullopt, std::nullopt});
  });
  claimed = *plan_instance(builder.view(), Config{}, "vnfs1");
  claimed.epoch = Epoch(3);
  EXPECT_FALSE(may_call(prepared, claimed));
}

TEST(InstancePlan, WakesAlsoWhoMayNotHaveHeardOfTheMoveBefore) {
  ViewBuilder builder;
  builder.basics().vnfs1();
  records::ConnectionsRecord record;
  record.add_tcp("10.0.0.101:2049 10.0.0.7:900 17");
  record.add_unheard("10.0.0.101:2049 10.0.0.7:900");
  record.add_unheard("10.0.0.101:2049 10.0.0.7:899");
  builder.put(kv::keys::kConnections + "vnfs1", record.SerializeAsString());
  const auto plan = plan_instance(builder.view(), Config{}, "vnfs1");
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->connections.size(), 2u);
  EXPECT_EQ(plan->connections[0].to_string(), record.tcp(0));
  EXPECT_EQ(plan->connections[1].to_string(), record.unheard(1));
}

TEST(InstancePlan, PathsLieBelowRunDir) {
  Config config;
  config.daemon.run_dir = "/r";
  config.daemon.log_dir = "/l";
  const InstancePaths paths = paths_for(config, "vnfs1");
  EXPECT_EQ(paths.instance_file, "/r/vnfs/vnfs1/instance.json");
  EXPECT_EQ(paths.log, "/l/vnfs1.log");
}

}  // namespace
}  // namespace symnas::vnfsd::instance
