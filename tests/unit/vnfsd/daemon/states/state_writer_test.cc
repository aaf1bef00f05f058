#include "vnfsd/daemon/states/state_writer.h"

#include "common/kv/keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/states/limits.h"
#include "vnfsd/records/states.h"

namespace symnas::vnfsd::daemon {
namespace {

class StateWriterTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.basics().vnfs1().owner("vnfs1", "c1n3");
    register_head(5);
    instance::InstanceSnapshot& starting = instances.all["vnfs1"];
    starting.phase = instance::Phase::kStarting;
    starting.epoch = 7;
    starting.pid = 42;
  }
  void register_head(std::int64_t agent_started_ns) {
    records::HeadRecord record;
    record.set_name("c1n3");
    record.set_incarnation("boot");
    record.set_agent_started_ns(agent_started_ns);
    builder.put(kv::keys::kHeads + "c1n3", record.SerializeAsString());
  }
  void look() {
    reader.copy = builder.view();
    writer.look();
  }
  records::HeadStates told_by_c1n3() {
    const auto states = read_states(builder.store, kTestDeadlineMs);
    EXPECT_TRUE(states);
    const auto found = states->find("c1n3");
    return found == states->end() ? records::HeadStates() : found->second;
  }

  FakeInstances instances;
  std::stop_source end;
  StateWriter writer{head, reader, quota, instances, end.get_token()};
};

TEST_F(StateWriterTest, TellsTheStatesOfThisHeadsInstances) {
  look();
  const records::HeadStates states = told_by_c1n3();
  EXPECT_EQ(states.incarnation(), "boot");
  EXPECT_EQ(states.told_ns(), clock.wall_ns());
  ASSERT_NE(instance_of(states, "vnfs1"), nullptr);
  EXPECT_EQ(instance_of(states, "vnfs1")->state(), "starting");
  EXPECT_EQ(instance_of(states, "vnfs1")->epoch(), 7u);
  EXPECT_TRUE(is_of_present_agent(states, builder.view()));
}

TEST_F(StateWriterTest, WritesOnlyWhatHasChanged) {
  look();
  const std::int64_t told_ns = told_by_c1n3().told_ns();
  pass_ms(kStatesLookMs);
  look();
  EXPECT_EQ(told_by_c1n3().told_ns(), told_ns);
  instances.all["vnfs1"].phase = instance::Phase::kServing;
  look();
  EXPECT_EQ(told_by_c1n3().told_ns(), clock.wall_ns());
  EXPECT_EQ(instance_of(told_by_c1n3(), "vnfs1")->state(), "serving");
  instances.all.clear();
  look();
  EXPECT_EQ(told_by_c1n3().instances_size(), 0);
}

TEST_F(StateWriterTest, ALaterAgentTellsAnew) {
  look();
  register_head(6);
  EXPECT_FALSE(is_of_present_agent(told_by_c1n3(), builder.view()));
  look();
  EXPECT_TRUE(is_of_present_agent(told_by_c1n3(), builder.view()));
}

TEST_F(StateWriterTest, AHeadThatIsNoneTellsNothing) {
  reader.copy = builder.view();
  register_head(6);  // the copy does not show it yet
  writer.look();
  EXPECT_EQ(told_by_c1n3().instances_size(), 0);
  look();
  EXPECT_EQ(told_by_c1n3().instances_size(), 1);
}

TEST_F(StateWriterTest, CutsLongTexts) {
  instances.all["vnfs1"].error = std::string(10'000, 'x');
  look();
  EXPECT_EQ(instance_of(told_by_c1n3(), "vnfs1")->error().size(), kToldTextBytesMax);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
