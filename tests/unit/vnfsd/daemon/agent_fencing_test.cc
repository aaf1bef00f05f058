// Whole agents over an in-memory store: what the victim of a fence may do meanwhile and then.
#include <poll.h>

#include <atomic>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/daemon/fencing_cluster.h"

namespace symnas::vnfsd::daemon {
namespace {

TEST_F(AgentFencingTest, TheVictimClaimsNothingFromTheBeginningOn) {
  during = [&] {
    EXPECT_EQ(code_of(agents["c1n2"]->host().claim("vnfs1", {})), ErrorCode::kPermission);
  };
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_EQ(code_of(agents["c1n2"]->host().claim("vnfs1", {})), ErrorCode::kPermission);
}

TEST_F(AgentFencingTest, AVictimThatLivesGoesOn) {
  fails = true;
  EXPECT_FALSE(fence("c1n2"));
  EXPECT_TRUE(agents["c1n2"]->host().claim("vnfs1", {}));
}

TEST_F(AgentFencingTest, ItsNextBootServesAgain) {
  ASSERT_TRUE(fence("c1n2"));
  start("c1n2", "boot2b", {});
  EXPECT_FALSE(builder.view().fences.contains("c1n2"));
  EXPECT_TRUE(agents["c1n2"]->host().claim("vnfs1", {}));
}

TEST_F(AgentFencingTest, TheSameBootDoesNotRegisterAgain) {
  ASSERT_TRUE(fence("c1n2"));
  const std::int64_t started = builder.view().heads.at("c1n2").record.agent_started_ns();
  may_register = false;
  start("c1n2", "boot2", {});
  EXPECT_EQ(code_of(agents["c1n2"]->host().claim("vnfs1", {})), ErrorCode::kPermission);
  EXPECT_EQ(builder.view().heads.at("c1n2").record.agent_started_ns(), started);
}

// vnfsd restarts on a head whose instance hangs: its VIPs must go.
TEST_F(AgentFencingTest, AnAgentOfAFencedBootLooksAfterWhatIsThere) {
  const auto supervised = [&] {
    const nlohmann::json status = agents["c1n2"]->backends().status.local_status();
    return status.contains("instances") && status["instances"].contains("vnfs1");
  };
  fails = true;
  during = [&] {
    may_register = false;
    start("c1n2", "boot2", {});
    for (int i = 0; i < 2'000 && !supervised(); ++i) ::usleep(1'000);
    EXPECT_TRUE(supervised());
  };
  EXPECT_FALSE(fence("c1n2"));
}

TEST_F(AgentFencingTest, AnAgentThatCouldNotWorkIsShown) {
  AgentLinks links;
  links.fence_check = [](int) { return fail(ErrorCode::kUnavailable, "agent: no route"); };
  start("c1n4", "boot4", links);
  const auto error = [&] {
    return agents["c1n4"]->backends().status.local_status()["fence_agent"]["error"];
  };
  for (int i = 0; i < 1000 && error() == ""; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(error(), "agent: no route");
}

// What it talks to may have one session only.
TEST_F(AgentFencingTest, ACheckOfTheAgentEndsBeforeItCutsAHeadOff) {
  std::atomic<bool> checks = false;
  AgentLinks links;
  links.prober = sights.get();
  links.fence_check = [&](int stop_fd) -> Status {
    checks = true;
    pollfd stop{stop_fd, POLLIN, 0};
    ::poll(&stop, 1, 20'000);
    checks = false;
    return {};
  };
  links.fence_off = [&](const std::string&) -> Result<std::string> {
    EXPECT_FALSE(checks);
    return "power is off";
  };
  start("c1n3", "boot3", links);
  for (int i = 0; i < 1000 && !checks; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(checks);
  EXPECT_TRUE(fence("c1n2"));
  agents.erase("c1n3");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
