// Agent: a VIP that somebody answers for is given to no VNFS.
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/daemon/agent.h"

namespace symnas::vnfsd::daemon {
namespace {

class VipsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder.head("c1n2", "10.99.0.2");
    builder.basics();
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = "c1n3";
    config.head_address = "10.99.0.3";
    config.daemon.run_dir = ::testing::TempDir() + "symnas-vips";
    AgentLinks links;
    links.who_has =
        [this](const std::string& device,
               const std::vector<IpAddress>& addresses) -> Result<std::vector<address::Holder>> {
      asked.push_back(device);
      if (deaf) return fail(ErrorCode::kNotFound, "network device eth1: does not exist");
      std::vector<address::Holder> out;
      for (const IpAddress& one : addresses) {
        if (one.to_string() == taken) out.push_back({one, {0x52, 0x54, 0, 1, 2, 3}});
      }
      return out;
    };
    agent = std::make_unique<Agent>(builder.store, env::system_clock(), config, "boot",
                                    std::move(links));
  }
  VnfsRequest request() {
    VnfsRequest r = ViewBuilder::vnfs();
    r.heads = {"c1n2", "c1n1"};
    return r;
  }
  ViewBuilder builder;
  Config config;
  std::string taken = "10.0.0.101";
  bool deaf = false;
  std::vector<std::string> asked;
  std::unique_ptr<Agent> agent;
};

TEST_F(VipsTest, OneThatIsInUseIsRefused) {
  for (const Mode mode : {Mode::kDryRun, Mode::kCommit}) {
    const auto made = agent->create_vnfs(request(), mode);
    EXPECT_EQ(code_of(made), ErrorCode::kBusy);
    EXPECT_EQ(made.error().message,
              "vnfs vnfs1: VIP 10.0.0.101: 52:54:00:01:02:03 answers for it on the network behind "
              "eth1 (choose another, or take it away there)");
  }
  EXPECT_TRUE(builder.view().vnfses.empty());
}

TEST_F(VipsTest, OneThatIsFreeIsTaken) {
  taken = "10.0.0.99";
  ASSERT_TRUE(agent->create_vnfs(request(), Mode::kCommit));
  EXPECT_EQ(asked, std::vector<std::string>{"eth1"});
  EXPECT_TRUE(builder.view().vnfses.contains("vnfs1"));
}

TEST_F(VipsTest, EveryOneOfASetIsAskedFor) {
  taken = "10.0.0.102";
  const VnfsSetRequest set{"v", {"10.0.0.101/24@nfs0"}, {"u04"}, {"c1n1", "c1n2"}, "manual"};
  const auto made = agent->create_vnfs_set(set, Mode::kCommit);
  EXPECT_EQ(code_of(made), ErrorCode::kBusy);
  EXPECT_NE(made.error().message.find("vnfs v2: VIP 10.0.0.102"), std::string::npos);
}

TEST_F(VipsTest, WhatCannotBePlannedAsksNobody) {
  VnfsRequest wrong = request();
  wrong.exports = {"none"};
  EXPECT_EQ(code_of(agent->create_vnfs(wrong, Mode::kCommit)), ErrorCode::kNotFound);
  EXPECT_TRUE(asked.empty());
}

TEST_F(VipsTest, AHeadWithoutTheNetworkMakesItForOthers) {
  deaf = true;
  EXPECT_TRUE(agent->create_vnfs(request(), Mode::kCommit));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
