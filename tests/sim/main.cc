// The simulations of tests/sim. README.md says what each shows.
#include <string_view>

#include "common/base/log.h"
#include "tests/sim/exhaustive.h"
#include "tests/sim/runtime/seeds.h"
#include "tests/sim/simulations.h"

int main(int argc, char** argv) {
  using namespace symnas::sim;
  repeat_addresses(argv);
  if (argc > 1 && std::string_view(argv[1]) == "exhaustive") {
    symnas::log::init("sim", "critical");
    return run_exhaustive(argc, argv);
  }
  return run_command_line(argc, argv,
                          {{"session", run_session},
                           {"mount", run_mount},
                           {"data", run_data},
                           {"heads", run_heads},
                           {"moves", run_moves},
                           {"service", run_service},
                           {"repair", run_repair}},
                          [large = argc > 1 && std::string_view(argv[1]) == "repair"] {
                            symnas::log::init("sim", "critical");
                            prepare_disks(large ? DiskSize::kLarge : DiskSize::kUsual);
                          });
}
