#include "vnfsd/records/states.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/kv/state_keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd {
namespace {

records::HeadStates one_head() {
  records::HeadStates states;
  states.set_head("a");
  states.set_incarnation("b");
  states.set_agent_started_ns(3);
  states.set_told_ns(4);
  records::ToldInstance& one = *states.add_instances();
  one.set_vnfs("v");
  one.set_epoch(2);
  one.set_state("s");
  one.set_since_ns(4);
  one.set_restarts(5);
  one.set_last_exit("x");
  one.set_error("e");
  one.set_vips_taken("t");
  return states;
}

TEST(States, Encoding) {
  EXPECT_EQ(to_hex(one_head().SerializeAsString()),
            "0a0161"
            "120162"
            "1803"
            "2004"
            "2a15"
            "0a0176"
            "1002"
            "1a0173"
            "2004"
            "2805"
            "320178"
            "3a0165"
            "420174");
}

TEST(States, WhatIsNoRecordIsLeftOut) {
  ViewBuilder builder;
  builder.put(kv::keys::kHeadStates + "a", one_head().SerializeAsString());
  builder.put(kv::keys::kHeadStates + "b", "\xff\xff");
  const auto told = read_states(builder.store, kTestDeadlineMs);
  ASSERT_TRUE(told);
  ASSERT_EQ(told->size(), 1u);
  EXPECT_NE(instance_of(told->at("a"), "v"), nullptr);
  EXPECT_EQ(instance_of(told->at("a"), "w"), nullptr);
}

TEST(States, OfAHeadThatIsNotRegisteredIsStale) {
  ViewBuilder builder;
  EXPECT_FALSE(is_of_present_agent(one_head(), builder.view()));
}

}  // namespace
}  // namespace symnas::vnfsd
