// run_symnas: the whole command, without a process around it. Thread-compatible.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "vnfsd/api/client.h"
#include "vnfsd/ctl/terminal.h"

namespace symnas::vnfsd::ctl {

// Makes the client for a socket; tests give their own.
using ClientFactory = std::function<std::unique_ptr<api::ApiClient>(const std::string& socket)>;

// `arguments` without the program's name. Returns the exit code (exit_code.h).
int run_symnas(std::vector<std::string> arguments, const ClientFactory& factory, std::ostream& out,
               std::ostream& err, const Surroundings& surroundings = {});

}  // namespace symnas::vnfsd::ctl
