#include "vnfsd/ctl/drill_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t kMs = 1'000'000;

DrillFacts facts() {
  DrillFacts out{.kind = "move", .vnfs = "v1", .heads = {"a", "b", "a"}};
  out.began_ns = 1000 * kMs;
  out.budget_ms = 500;
  out.answers = 700;
  out.connections = 3;
  out.longest = {1500 * kMs, 1680 * kMs};
  out.gaps = {out.longest};
  out.history = json::array({{{"cause", "move"},
                              {"from", "a"},
                              {"to", "b"},
                              {"began_ns", 1500 * kMs},
                              {"blackout_ms", 130},
                              {"steps", {{{"name", "claimed"}, {"at_ns", 1560 * kMs}}}}}});
  out.clients = {"10.0.0.7"};
  return out;
}

TEST(DrillReport, PassesWithinItsBudget) {
  const json document = drill_document(facts());
  EXPECT_EQ(document["passed"], true);
  EXPECT_EQ(document["longest_gap_ms"], 180);
  EXPECT_EQ(document["gaps"][0]["after_ms"], 500);
  const std::string text = drill_text(document);
  for (const char* part :
       {"move of vnfs v1", "through a, b, a", "move from a to b, 130 ms", "60 ms  claimed",
        "700 answers on 3 connections; longest gap 180 ms",
        "1 were connected, 0 of them are not again", "passed: within the budget of 500 ms"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(DrillReport, FailsAboveIt) {
  DrillFacts slow = facts();
  slow.budget_ms = 100;
  const json document = drill_document(slow);
  EXPECT_EQ(document["passed"], false);
  EXPECT_NE(drill_text(document).find("failed: the longest gap, 180 ms, is above the budget"),
            std::string::npos);
}

TEST(DrillReport, FailsWhenAClientHasNotComeBack) {
  DrillFacts lost = facts();
  lost.not_back = {"10.0.0.7"};
  const json document = drill_document(lost);
  EXPECT_EQ(document["passed"], false);
  EXPECT_EQ(document["why"], "not connected again: 10.0.0.7");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
