// The protocol of fence agents, with shell scripts as agents.
#include "ha/fencing/fence_agent.h"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "common/base/unique_fd.h"

namespace symnas::ha {
namespace {

class FenceAgentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "symnas-fence-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    agent.program = directory + "/agent";
    agent.timeout_ms = 5'000;
  }
  void TearDown() override {
    for (const char* name : {"/agent", "/input"}) std::remove((directory + name).c_str());
    ::rmdir(directory.c_str());
  }
  // In `body`, $action is the action that the agent was asked for.
  void script(const std::string& body) {
    std::ofstream(agent.program) << "#!/bin/sh\ninput=$(cat)\nprintf '%s\\n' \"$input\" >> "
                                 << directory << "/input\n"
                                 << "action=$(printf '%s\\n' \"$input\" | sed -n s/^action=//p)\n"
                                 << body << "\n";
    ASSERT_EQ(::chmod(agent.program.c_str(), 0755), 0);
  }
  std::string input() const {
    std::stringstream text;
    text << std::ifstream(directory + "/input").rdbuf();
    return text.str();
  }
  std::string directory;
  FenceAgent agent;
};

TEST_F(FenceAgentTest, OffAndStatusAreTheProof) {
  agent.options = {"ipaddr=10.9.9.9", "login=root"};
  script("[ $action = off ] && echo noise && echo 'power of c1n2 is off' && exit 0; exit 2");
  const auto proof = fence_off(agent, "c1n2");
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(*proof, "agent " + agent.program + ": power of c1n2 is off; status: off");
  EXPECT_EQ(input(),
            "action=off\nplug=c1n2\nport=c1n2\nnodename=c1n2\nipaddr=10.9.9.9\nlogin=root\n"
            "action=status\nplug=c1n2\nport=c1n2\nnodename=c1n2\nipaddr=10.9.9.9\nlogin=root\n");
}

TEST_F(FenceAgentTest, AFailureProvesNothing) {
  script("echo 'no connection to the switch' >&2; exit 1");
  const auto proof = fence_off(agent, "c1n2");
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(proof.error().message.find("status 1: no connection to the switch"), std::string::npos)
      << proof.error().message;
}

TEST_F(FenceAgentTest, AHeadThatIsOnAfterOffProvesNothing) {
  for (const char* status : {"0", "1"}) {
    script(std::string("[ $action = off ] && exit 0; exit ") + status);
    EXPECT_FALSE(fence_off(agent, "c1n2")) << status;
  }
}

TEST_F(FenceAgentTest, ATimeOutProvesNothingAndLeavesNoProcess) {
  script("echo waiting; sleep 100 & wait");
  agent.timeout_ms = 80;
  const auto proof = fence_off(agent, "c1n2");
  ASSERT_FALSE(proof);
  EXPECT_NE(proof.error().message.find("no answer after 80 ms"), std::string::npos);
}

TEST_F(FenceAgentTest, ASignalProvesNothing) {
  script("kill -9 $$");
  EXPECT_EQ(run_fence_agent(agent, FenceAction::kOff, "c1n2").error().code,
            ErrorCode::kUnavailable);
}

TEST_F(FenceAgentTest, OffspringThatKeepsThePipeOpenHoldsNothingUp) {
  script("sleep 1 & echo done; exit 0");
  agent.timeout_ms = 800;
  const auto answer = run_fence_agent(agent, FenceAction::kOff, "c1n2");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->output, "done\n");
}

TEST_F(FenceAgentTest, IsAskedWhetherItCouldWork) {
  agent.options = {"login=root"};
  script("[ $action = monitor ] && exit 0; exit 1");
  EXPECT_TRUE(check_fence_agent(agent, -1));
  EXPECT_EQ(input(), "action=monitor\nlogin=root\n");
  script("echo no route to 10.9.9.9; exit 1");
  const Status works = check_fence_agent(agent, -1);
  ASSERT_FALSE(works);
  EXPECT_EQ(works.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(works.error().message.find("no route to 10.9.9.9"), std::string::npos);
}

TEST_F(FenceAgentTest, WhoEndsDoesNotWaitForACheck) {
  script("exec sleep 30");
  const UniqueFd stop(::eventfd(1, EFD_CLOEXEC));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(check_fence_agent(agent, stop.get()));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(4));
}

TEST_F(FenceAgentTest, AMissingProgramIsNamed) {
  const auto answer = run_fence_agent(agent, FenceAction::kOff, "c1n2");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  EXPECT_NE(answer.error().message.find(agent.program), std::string::npos);
}

TEST_F(FenceAgentTest, OptionsHaveABound) {
  agent.options = {"x=" + std::string(20'000, 'y')};
  EXPECT_EQ(run_fence_agent(agent, FenceAction::kOff, "c1n2").error().code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace symnas::ha
