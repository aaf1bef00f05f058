// Random namespace operations on a World: against the model, or by several threads at once; and
// what must be true of the store afterwards. Used on the in-memory store and on a real etcd.
#pragma once

#include <cstdint>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {

// Runs `steps` operations drawn from `seed`; the test fails at the first answer that differs from
// the model's, and when the final tree differs. A failure's message names the seed and the step.
void run_against_model(World& world, std::uint64_t seed, int steps);

// `threads` threads, each with `steps` operations drawn from `seed`, on few names. Answers may be
// anything that some order allows; afterwards check_tree() must hold.
void run_threads(World& world, std::uint64_t seed, int threads, int steps);

// Reads every record of the filesystem: the tree is a tree, link counts are the numbers of names,
// nothing is unreachable, dangling or left over.
void check_tree(World& world);

}  // namespace symnas::fs
