// Where the API over the network has its keys and certificates. Thread-safe: a function without
// state.
#pragma once

#include <string>

#include "vnfsd/config/config.h"

namespace symnas::vnfsd {

// "api" beside the folder of etcd's: /etc/symnas/api.
std::string api_directory(const Config& config);

}  // namespace symnas::vnfsd
