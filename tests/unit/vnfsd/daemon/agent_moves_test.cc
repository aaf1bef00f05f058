// What an agent does by itself about moves, over an in-memory store, without LUNs or instances.
#include <thread>

#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr int kLooksMax = 100'000;

class AgentPlacementTest : public ::testing::Test {
 protected:
  // The agent's head may serve vnfs1 only when it is told to, so that it claims nothing itself.
  void SetUp() override {
    builder.basics().three_heads();
    const ClusterView view = builder.view();
    records::HeadRecord head = view.heads.at("c1n2").record;
    for (const auto* lun : luns_of_volume(view, "v1")) head.add_luns(lun->uuid());
    head.set_luns_known(true);
    builder.put(kv::keys::kHeads + "c1n2", head.SerializeAsString());
    builder.vnfs1({"c1n2", "c1n1", "c1n3"});
    boot("boot");
  }
  void boot(const std::string& incarnation) {
    agent.reset();
    Config config;
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = "c1n3";
    config.head_address = "10.99.0.3";
    config.daemon.run_dir = ::testing::TempDir() + "symnas-agent-placement";
    agent = std::make_unique<Agent>(builder.store, env::system_clock(), config, incarnation);
    ASSERT_TRUE(agent->backends().records.view());
  }
  // The order for vnfs1 when it is as wanted; the last one seen if it never is.
  template <class Wanted>
  records::MoveRecord order_that(const Wanted& wanted) {
    records::MoveRecord last;
    for (int look = 0; look < kLooksMax; ++look) {
      const ClusterView view = builder.view();
      const auto move = view.moves.find("vnfs1");
      if (move != view.moves.end()) last = move->second.record;
      if (move != view.moves.end() && wanted(last)) break;
      std::this_thread::yield();
    }
    return last;
  }

  ViewBuilder builder;
  std::unique_ptr<Agent> agent;
};

TEST_F(AgentPlacementTest, OrdersItsVnfsAwayWhenItsHeadIsDrainedAndKeepsItUntilThatIsAnswered) {
  ASSERT_TRUE(agent->host().claim("vnfs1", {}));
  builder.apply([](const ClusterView& v) { return plan_head_drain(v, "c1n3", 1); });
  const records::MoveRecord order = order_that([](const auto&) { return true; });
  EXPECT_EQ(order.from(), "c1n3");
  EXPECT_EQ(order.to(), "c1n2");
  EXPECT_EQ(order.cause(), records::MOVE_DRAIN);
  EXPECT_EQ(builder.view().owners.at("vnfs1").record.head(), "c1n3");
}

TEST_F(AgentPlacementTest, ADrainOutlivesBoots) {
  builder.apply([](const ClusterView& v) { return plan_head_drain(v, "c1n3", 1); });
  boot("the next one");
  const records::HeadRecord head = builder.view().heads.at("c1n3").record;
  EXPECT_EQ(head.incarnation(), "the next one");
  EXPECT_TRUE(head.draining());
}

TEST_F(AgentPlacementTest, SaysInTheOrderWhyItDoesNotTakeAVnfs) {
  records::MoveRecord order;
  order.set_from("c1n2");
  order.set_to("c1n3");
  order.set_ordered_ns(env::system_clock().wall_ns());
  builder.put(kv::keys::kMoves + "vnfs1", order.SerializeAsString());
  const auto said = order_that([](const auto& move) { return !move.refusal().empty(); });
  EXPECT_NE(said.refusal(), "");
  EXPECT_EQ(said.ready_incarnation(), "");
  builder.apply([](const ClusterView& v) { return plan_head_drain(v, "c1n3", 1); });
  const std::string drained = "this head is being drained";
  EXPECT_EQ(order_that([&](const auto& move) { return move.refusal() == drained; }).refusal(),
            drained);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
