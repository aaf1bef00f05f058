#include "vnfsd/api/vnfs_sight.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/kv/keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/api/placement.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// Seen from c1n1; c1n3 owns vnfs1 (epoch 7) and has told of it.
class VnfsSightTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder.three_heads().basics().vnfs1({"c1n1", "c1n3"}).owner("vnfs1", "c1n3");
    tell("c1n3", "serving", 7);
  }
  void tell(const std::string& head, const std::string& state, std::uint64_t epoch) {
    records::HeadStates& states = told[head];
    states.set_head(head);
    states.set_incarnation("boot of " + head);
    states.set_told_ns(1'000'000'000);
    states.clear_instances();
    records::ToldInstance& one = *states.add_instances();
    one.set_vnfs("vnfs1");
    one.set_state(state);
    one.set_epoch(epoch);
  }
  void disown() {
    kv::Txn txn;
    txn.success.push_back(kv::erase(kv::keys::kOwners + "vnfs1"));
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  }
  json here() {
    return {{"head", "c1n1"},
            {"instances", json::object()},
            {"unheard", unheard},
            {"told", told_document(told, builder.view())}};
  }
  json sight() { return sight_of_instance(builder.view(), here(), "vnfs1"); }
  Story story() { return story_of(builder.view(), "vnfs1", here(), 0); }

  ViewBuilder builder;
  ToldStates told;
  json unheard = json::array();
};

TEST_F(VnfsSightTest, ShowsWhatTheOwnerTells) {
  tell("c1n3", "fencing", 7);
  EXPECT_EQ(sight()["state"], "fencing");
  EXPECT_EQ(sight()["head"], "c1n3");
  EXPECT_FALSE(sight().contains("pid"));
  EXPECT_EQ(story().state, "fencing");
}

TEST_F(VnfsSightTest, AStateOfAnEarlierEpochIsNotShown) {
  tell("c1n3", "serving", 6);
  EXPECT_EQ(sight()["state"], "starting");
  EXPECT_EQ(sight()["epoch"], 7);
}

TEST_F(VnfsSightTest, AFormerOwnerIsNotAsked) {
  told.clear();
  tell("c1n2", "serving", 7);
  EXPECT_TRUE(sight().empty());
  EXPECT_EQ(state_word({{"owner", "c1n3"}}, sight()), "owned");
}

TEST_F(VnfsSightTest, AnEarlierAgentOfTheOwnerIsNotAsked) {
  told["c1n3"].set_agent_started_ns(99);
  EXPECT_TRUE(sight().empty());
  EXPECT_EQ(story().state, "serving");  // as far as is known
}

TEST_F(VnfsSightTest, OfASilentHeadTheLastStateIsShownWithItsTime) {
  unheard = {{{"head", "c1n3"}, {"heard_ns", 1'700'000'000'000'000'000}}};
  EXPECT_EQ(sight()["state"], "serving");
  EXPECT_EQ(sight()["heard_ns"], 1'700'000'000'000'000'000);
  EXPECT_EQ(state_word({{"owner", "c1n3"}}, sight()), "unheard");
  EXPECT_EQ(story().state, "unheard");
  EXPECT_EQ(story().why,
            "c1n3 is not heard: it was serving at 2023-11-14 22:13:20 UTC, when it was heard last");
}

TEST_F(VnfsSightTest, SaysWhatKeepsAHeadFromServingWhatNobodyOwns) {
  disown();
  tell("c1n3", "waiting", 0);
  told["c1n3"].mutable_instances(0)->set_error("no LUN");
  EXPECT_EQ(sight()["error"], "no LUN");
  EXPECT_EQ(story().state, "waiting");
  EXPECT_NE(story().why.find("no LUN"), std::string::npos);
  tell("c1n3", "stopped", 0);
  EXPECT_TRUE(sight().empty());
}

TEST_F(VnfsSightTest, TextsThatAreNoTextAreShownAllTheSame) {
  told["c1n3"].mutable_instances(0)->set_error("cut \xc3");
  EXPECT_EQ(sight()["error"], "cut \xef\xbf\xbd");
}

}  // namespace
}  // namespace symnas::vnfsd::api
