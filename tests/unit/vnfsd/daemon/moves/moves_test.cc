// What a head does about moves by itself, over an in-memory store, without LUNs or instances.
#include "vnfsd/daemon/moves/moves.h"

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::daemon {
namespace {

struct FakeReach final : NetworkReach {
  std::map<std::string, std::string> ill() const override { return all_ill; }
  std::set<std::string> worse() const override { return {}; }
  std::map<std::string, std::string> all_ill;
};

// vnfs1 may be served by c1n2, c1n1 and c1n3, which is this head; all LUNs are known to be here and
// at c1n2, and its network is a device that every machine has.
class MovesTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.basics();
    for (const char* name : {"c1n2", "c1n3"}) serving(name);
    records::NetworkRecord network = builder.view().networks.at("nfs0").record;
    network.set_device("lo");
    builder.put(kv::keys::kNetworks + std::string("nfs0"), network.SerializeAsString());
    builder.vnfs1({"c1n2", "c1n1", "c1n3"});
  }
  void serving(const std::string& name) {
    const ClusterView view = builder.view();
    records::HeadRecord record;
    record.set_name(name);
    record.set_address("10.99.0." + name.substr(3));
    record.set_incarnation(name == "c1n3" ? "boot" : "boot of " + name);
    for (const auto* lun : luns_of_volume(view, "v1")) record.add_luns(lun->uuid());
    record.set_luns_known(true);
    builder.put(kv::keys::kHeads + name, record.SerializeAsString());
  }
  void order_here(const std::string& from) {
    records::MoveRecord order;
    order.set_from(from);
    order.set_to("c1n3");
    order.set_ordered_ns(clock.wall_ns());
    builder.put(kv::keys::kMoves + std::string("vnfs1"), order.SerializeAsString());
  }
  void look() { moves.follow(builder.view()); }
  records::MoveRecord order() {
    const ClusterView view = builder.view();
    const auto found = view.moves.find("vnfs1");
    return found == view.moves.end() ? records::MoveRecord() : found->second.record;
  }

  LunSet luns{head.config.cluster_uuid};
  LunCanaries canaries{[] {}};
  const Registrations registrations{head, {}, luns, [] {}};
  HistoryWriter history{head, event_writer};
  Ownership owner{{head, reader, event_writer, history, luns, registrations}};
  FakeReach networks;
  FakeInstances instances;
  Moves moves{{head, event_writer, registrations, canaries, networks, instances, owner}};
};

TEST_F(MovesTest, OrdersItsVnfsAwayWhenItsHeadIsDrainedAndKeepsItUntilThatIsAnswered) {
  builder.owner("vnfs1", "c1n3");
  builder.apply([](const ClusterView& v) { return plan_head_drain(v, "c1n3", 1); });
  look();
  EXPECT_EQ(order().from(), "c1n3");
  EXPECT_EQ(order().to(), "c1n2");
  EXPECT_EQ(order().cause(), records::MOVE_DRAIN);
  EXPECT_TRUE(moves.are_under_way());
  EXPECT_EQ(builder.view().owners.at("vnfs1").record.head(), "c1n3");
}

TEST_F(MovesTest, ADecidersOrderIsAnsweredByTheBootThatItWasGivenTo) {
  builder.owner("vnfs1", "c1n2");
  builder.apply([](const ClusterView& v) { return plan_decider(v, records::DECIDER_PACEMAKER); });
  order_here("c1n2");
  look();
  EXPECT_TRUE(moves.preparing().empty()) << "a former boot was told";
  builder.apply([](const ClusterView& v) {
    return plan_take(v, {records::DECIDER_PACEMAKER, "vnfs1", "c1n3"}, 1);
  });
  look();
  EXPECT_EQ(moves.preparing(), std::set<std::string>{"vnfs1"});
}

TEST_F(MovesTest, SaysWhenTheLastOfItsVnfsesHasGone) {
  builder.owner("vnfs1", "c1n3");
  builder.apply([](const ClusterView& v) { return plan_head_drain(v, "c1n3", 1); });
  look();
  builder.owner("vnfs1", "c1n2");
  look();
  look();
  write_told();
  EXPECT_EQ(event_text(event::kHeadDrained), "head c1n3: is drained");
}

TEST_F(MovesTest, AnswersAnOrderWhenTheStandbyWaits) {
  builder.owner("vnfs1", "c1n2");
  order_here("c1n2");
  look();
  EXPECT_TRUE(moves.preparing().contains("vnfs1"));
  EXPECT_EQ(order().ready_incarnation(), "");
  instances.all["vnfs1"].phase = instance::Phase::kPrepared;
  look();
  EXPECT_EQ(order().ready_incarnation(), "boot");
}

TEST_F(MovesTest, SaysInTheOrderWhyItDoesNotTakeAVnfs) {
  builder.owner("vnfs1", "c1n2");
  order_here("c1n2");
  networks.all_ill["nfs0"] = "no carrier";
  look();
  EXPECT_EQ(order().refusal(), "network nfs0: no carrier");
  EXPECT_NE(event_text(event::kMoveRefused), "");
  builder.apply([](const ClusterView& v) { return plan_head_drain(v, "c1n3", 1); });
  look();
  EXPECT_EQ(order().refusal(), "this head is being drained");
  EXPECT_EQ(order().ready_incarnation(), "");
}

TEST_F(MovesTest, VipsThatOthersHaveAreAReason) {
  builder.owner("vnfs1", "c1n2");
  order_here("c1n2");
  instances.all["vnfs1"].phase = instance::Phase::kWaiting;
  instances.all["vnfs1"].vips_taken = "10.0.0.101 is taken";
  look();
  EXPECT_EQ(order().refusal(), "10.0.0.101 is taken");
}

// Whoever gave it does not wait any more.
TEST_F(MovesTest, AnOldOrderIsNotAnswered) {
  builder.owner("vnfs1", "c1n2");
  order_here("c1n2");
  look();
  instances.all["vnfs1"].phase = instance::Phase::kPrepared;
  clock.advance_ns(kOrderNs + 1);
  look();
  EXPECT_EQ(order().ready_incarnation(), "");
}

TEST_F(MovesTest, AnOrderIsOverWhenItsTargetServes) {
  builder.owner("vnfs1", "c1n2");
  order_here("c1n2");
  instances.all["vnfs1"].phase = instance::Phase::kPrepared;
  look();
  builder.owner("vnfs1", "c1n3");
  instances.all["vnfs1"].phase = instance::Phase::kServing;
  look();
  EXPECT_FALSE(builder.view().moves.contains("vnfs1"));
}

// A standby starts while its head is being fenced; not again when that has failed.
TEST_F(MovesTest, PreparesForWhatFallsToIt) {
  builder.owner("vnfs1", "c1n2");
  records::OwnerRecord owned = builder.view().owners.at("vnfs1").record;
  owned.set_incarnation("boot of c1n2");
  builder.put(kv::keys::kOwners + std::string("vnfs1"), owned.SerializeAsString());
  records::FenceRecord fence;
  fence.set_head("c1n2");
  fence.set_incarnation("boot of c1n2");
  fence.set_by("c1n1");
  fence.set_state(records::FENCE_RUNNING);
  builder.put(kv::keys::kFences + std::string("c1n2"), fence.SerializeAsString());
  look();
  const ClusterView view = builder.view();
  EXPECT_EQ(moves.preparing(), falling_to(view, "c1n3"));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
