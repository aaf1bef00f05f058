#include "vnfsd/daemon/moves/settling.h"

#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kSettleMs = 60'000;
using Names = std::set<std::string>;

class SettlingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    records::HeadRecord& head = view.heads["c1n1"].record;
    head.set_name("c1n1");
    head.set_incarnation("boot");
    head.set_agent_started_ns(1);
    head.set_luns_known(true);
  }
  records::HeadRecord& head() { return view.heads.at("c1n1").record; }
  Names look(std::int64_t now_ms) { return watch.look(now_ms, view, kSettleMs); }

  ClusterView view;
  SettleWatch watch;
};

TEST_F(SettlingTest, HasSettledAfterTheWholeTime) {
  EXPECT_EQ(look(1000), Names{});
  EXPECT_EQ(look(1000 + kSettleMs - 1), Names{});
  EXPECT_EQ(look(1000 + kSettleMs), Names{"c1n1"});
}

TEST_F(SettlingTest, WhateverChangesBetweenTwoLooksBeginsItAnew) {
  std::int64_t now_ms = 0;
  const auto begins_anew = [&](const char* what, const auto& change) {
    look(now_ms);
    ASSERT_EQ(look(now_ms += kSettleMs), Names{"c1n1"}) << what;
    change();
    EXPECT_EQ(look(now_ms += kSettleMs), Names{}) << what;
  };
  begins_anew("boot", [&] { head().set_incarnation("another"); });
  begins_anew("vnfsd", [&] { head().set_agent_started_ns(2); });
  begins_anew("LUNs", [&] { head().add_luns("LUN0"); });
  begins_anew("a network that gets ill", [&] { head().add_ill_networks("nfs0"); });
  begins_anew("one that is well again", [&] { head().clear_ill_networks(); });
}

TEST_F(SettlingTest, WhoCannotServeBeginsAnewAfterwards) {
  std::int64_t now_ms = 0;
  const auto interrupts = [&](const char* what, const auto& begin, const auto& end) {
    look(now_ms);
    ASSERT_EQ(look(now_ms += kSettleMs), Names{"c1n1"}) << what;
    begin();
    EXPECT_EQ(look(now_ms += 1), Names{}) << what;
    end();
    EXPECT_EQ(look(now_ms += kSettleMs - 1), Names{}) << what;
    EXPECT_EQ(look(now_ms += kSettleMs), Names{"c1n1"}) << what;
  };
  interrupts(
      "drain", [&] { head().set_draining(true); }, [&] { head().set_draining(false); });
  interrupts(
      "LUNs", [&] { head().set_luns_known(false); }, [&] { head().set_luns_known(true); });
  interrupts(
      "fence", [&] { view.fences["c1n1"].record.set_incarnation("boot"); },
      [&] { view.fences.clear(); });
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
