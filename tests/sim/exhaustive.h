// Exhaustive search: small scenarios of two or three mounts, every order of their messages up to a
// bound, instead of seeds. exhaustive.cc says what an order is.
#pragma once

namespace symnas::sim {

// Returns what main() returns. argv[1] is "exhaustive"; the options are in exhaustive.cc.
int run_exhaustive(int argc, char** argv);

}  // namespace symnas::sim
