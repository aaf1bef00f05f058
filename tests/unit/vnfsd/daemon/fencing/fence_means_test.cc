#include "vnfsd/daemon/fencing/fence_means.h"

#include <poll.h>

#include <atomic>
#include <future>

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/plans/deciders.h"

namespace symnas::vnfsd::daemon {
namespace {

class FenceMeansTest : public HeadWorld {
 protected:
  FenceMeans means(FenceCalls calls) {
    return FenceMeans(head, nullptr, std::move(calls), end.get_token());
  }
  static Result<std::string> off(const std::string& head) { return head + " is off"; }
  static Status still_fenced() { return {}; }
  std::stop_source end;
};

TEST_F(FenceMeansTest, WithoutAnyNothingCanBeFenced) {
  const FenceMeans none = means({});
  EXPECT_FALSE(none.can_fence());
  EXPECT_NE(none.why_no_failover().find("neither reservations nor a fence agent"),
            std::string::npos);
}

TEST_F(FenceMeansTest, TheAgentCutsOff) {
  FenceMeans agent = means({off, nullptr});
  EXPECT_TRUE(agent.can_fence());
  EXPECT_TRUE(agent.check_can_fence(builder.view()));
  const auto done = agent.cut_off("c1n2", "boot2", still_fenced);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->proof, "c1n2 is off");
  EXPECT_FALSE(done->luns);
}

// What it talks to may have one session only.
TEST_F(FenceMeansTest, ACheckEndsBeforeAHeadIsCutOff) {
  std::promise<void> begun;
  std::atomic<bool> checks = false;
  FenceMeans agent = means({[&](const std::string& name) -> Result<std::string> {
                              EXPECT_FALSE(checks);
                              return off(name);
                            },
                            [&](int stop_fd) -> Status {
                              checks = true;
                              begun.set_value();
                              pollfd stop{stop_fd, POLLIN, 0};
                              ::poll(&stop, 1, -1);
                              checks = false;
                              return {};
                            }});
  auto check = std::async(std::launch::async, [&] { return agent.check_agent(); });
  begun.get_future().wait();
  EXPECT_TRUE(agent.cut_off("c1n2", "boot2", still_fenced));
  EXPECT_FALSE(check.get()) << "one that was stopped says nothing";
}

TEST_F(FenceMeansTest, ACheckSaysWhatIsBroken) {
  FenceMeans agent =
      means({off, [](int) -> Status { return fail(ErrorCode::kUnavailable, "no route"); }});
  const auto works = agent.check_agent();
  ASSERT_TRUE(works);
  EXPECT_EQ(code_of(*works), ErrorCode::kUnavailable);
}

TEST_F(FenceMeansTest, NoCheckBeginsAfterTheEnd) {
  int checks = 0;
  FenceMeans agent = means({off, [&](int) -> Status {
                              ++checks;
                              return {};
                            }});
  end.request_stop();
  EXPECT_FALSE(agent.check_agent());
  EXPECT_EQ(checks, 0);
}

// INV-8: an `off` from before the boot was seen, or of a time that cannot be compared, proves
// nothing.
TEST_F(FenceMeansTest, PacemakersOffCountsForABootThatWasSeenBefore) {
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_PACEMAKER); });
  const ClusterView view = builder.view();
  const std::string boot = view.heads.at("c1n1").record.incarnation();
  std::int64_t since_s = 0;
  const auto confirmed = [&](const std::string& name, std::int64_t since) -> Result<std::string> {
    since_s = since;
    return name + " was off";
  };
  FenceMeans all = means({off, nullptr, confirmed, nullptr});
  const auto proof = [&](const std::string& incarnation) {
    return all.cut_off("c1n1", incarnation, still_fenced)->proof;
  };
  EXPECT_EQ(proof(boot), "c1n1 is off") << "nothing was seen";
  const std::int64_t seen_s = head.clock.wall_ns() / 1'000'000'000;
  all.follow(view, true);
  EXPECT_EQ(proof(boot), "c1n1 was off");
  EXPECT_GT(since_s, seen_s);
  EXPECT_EQ(proof("another boot"), "c1n1 is off");
  all.follow(view, false);
  EXPECT_EQ(proof(boot), "c1n1 is off") << "clocks differ";
  ClusterView builtin = view;
  builtin.cluster.record.set_decider(records::DECIDER_BUILTIN);
  all.follow(builtin, true);
  EXPECT_EQ(proof(boot), "c1n1 is off") << "pacemaker does not decide";
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
