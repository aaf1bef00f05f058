#include "vnfsd/daemon/fencing/fence_agent_check.h"

#include <chrono>
#include <thread>

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

class FenceAgentCheckTest : public HeadWorld {
 protected:
  // Looks until the check that is under way has been answered.
  void look_until(const std::string& error) {
    for (int i = 0; i < 10'000 && check.error() != error; ++i) {
      check.look();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(check.error(), error);
  }
  Status works = fail(ErrorCode::kUnavailable, "no route");
  int checks = 0;
  std::stop_source end;
  FenceMeans means{head,
                   nullptr,
                   {[](const std::string&) -> Result<std::string> { return std::string("off"); },
                    [this](int) {
                      ++checks;
                      return works;
                    }},
                   end.get_token()};
  FenceAgentCheck check{head, reader, means};
};

TEST_F(FenceAgentCheckTest, WhatIsBrokenIsShownUntilItWorks) {
  look_until("no route");
  works = {};
  check.look();
  EXPECT_EQ(checks, 1) << "not so soon";
  pass_ms(kFenceCheckMs);
  look_until("");
  EXPECT_EQ(checks, 2);
}

TEST_F(FenceAgentCheckTest, NothingIsCheckedWhileAHeadIsBeingCutOff) {
  records::FenceRecord fence;
  fence.set_head("c1n1");
  fence.set_incarnation("boot of c1n1");
  fence.set_state(records::FENCE_RUNNING);
  builder.put(kv::keys::kFences + std::string("c1n1"), fence.SerializeAsString());
  reader.copy = builder.view();
  check.look();
  check.look();
  EXPECT_EQ(checks, 0);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
