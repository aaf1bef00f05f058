// The simulations, each one run of one seed.
#pragma once

#include <cstdint>

namespace symnas::sim {

// The kv session alone: every fault of etcd, several mounts, ends in the middle.
void run_session(std::uint64_t seed);

}  // namespace symnas::sim
