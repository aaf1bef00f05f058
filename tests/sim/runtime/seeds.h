// Runs seeds of a simulation, each in a forked process of its own, and reports. The command line of
// the executable:
//   PROGRAM SIMULATION [--from N] [--seeds N] [--jobs N] [--trace] [--verify] [--keep-going]
// --verify runs every seed twice and compares the hashes of the traces.
// A failure prints the seed and the command that replays it with a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace symnas::sim {

struct Simulation {
  std::string name;
  // Runs in the forked process, after start(); returning means that the run was good.
  std::function<void(std::uint64_t seed)> run;
};

// If need be, starts the program again without randomized addresses: nothing should depend on
// addresses, but anything that does is then repeatable. To be called first in main().
void repeat_addresses(char** argv);

// Returns what main() returns. `prepare` runs once, before the first fork: it makes what all runs
// share and what is made once per OS process.
int run_command_line(int argc, char** argv, const std::vector<Simulation>& simulations,
                     const std::function<void()>& prepare);

}  // namespace symnas::sim
