// Random operations against a model, and by several threads at once, on a store that loses, delays
// and repeats requests.
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/ops/namespace_run.h"

namespace symnas::fs {
namespace {

TEST(NamespaceProperty, AnswersAndTreeAreTheModels) {
  for (std::uint64_t seed = 1; seed <= 40 && !testing::Test::HasFailure(); ++seed) {
    World world;
    run_against_model(world, seed, 300);
  }
}

TEST(NamespaceProperty, TheSameOnAStoreThatFails) {
  for (std::uint64_t seed = 1; seed <= 8 && !testing::Test::HasFailure(); ++seed) {
    kv::FaultWeights weights;
    weights.conflict = 200;
    weights.unavailable = 50;
    weights.request_lost = 50;
    weights.reply_lost = 100;
    weights.commit_late = 50;
    weights.duplicate = 200;
    World world(seed, weights);
    run_against_model(world, seed, 200);
  }
}

TEST(NamespaceProperty, ThreadsLeaveATree) {
  for (std::uint64_t seed = 1; seed <= 10 && !testing::Test::HasFailure(); ++seed) {
    World world;
    run_threads(world, seed, 4, 150);
  }
}

TEST(NamespaceProperty, ThreadsLeaveATreeOnAStoreThatFails) {
  for (std::uint64_t seed = 1; seed <= 4 && !testing::Test::HasFailure(); ++seed) {
    kv::FaultWeights weights;
    weights.conflict = 200;
    weights.request_lost = 50;
    weights.reply_lost = 100;
    weights.duplicate = 200;
    World world(seed, weights);
    run_threads(world, seed, 4, 100);
  }
}

}  // namespace
}  // namespace symnas::fs
