// What the clients of a run begin with: the directory, files and registers that they share, and
// each client's own directory.
#pragma once

#include <memory>
#include <vector>

#include "tests/sim/client.h"

namespace symnas::sim {

// REQUIRES: before any fault; an instance serves. `heads` and `shared` outlive the clients.
std::vector<std::unique_ptr<Client>> prepare_clients(Heads& heads, Shared& shared,
                                                     const Workload& workload);

}  // namespace symnas::sim
