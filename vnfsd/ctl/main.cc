// symnas: the command.
#include <iostream>

#include "vnfsd/ctl/run.h"

int main(int argc, char** argv) {
  using namespace symnas::vnfsd;
  const auto factory = [](const std::string& socket) {
    return std::make_unique<api::ApiClient>(api::ClientOptions{socket});
  };
  return ctl::run_symnas({argv + 1, argv + argc}, factory, std::cout, std::cerr,
                         ctl::real_surroundings());
}
