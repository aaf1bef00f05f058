// Where a server listens, as administrators write it. Thread-safe: a value type and a pure
// function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd {

struct ListenAddress {
  std::string address;  // of this machine, numeric; "0.0.0.0" and "::" = all of them
  std::uint16_t port = 0;
};

// "10.99.0.1:9641" or "[fd00::1]:9641". Errors: kInvalidArgument.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace symnas::vnfsd
