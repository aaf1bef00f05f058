// Base64 (RFC 4648, section 4): bytes in JSON. Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd {

std::string to_base64(std::string_view bytes);
// With padding, and nothing between the digits. Errors: kInvalidArgument.
Result<std::string> from_base64(std::string_view text);

}  // namespace symnas::vnfsd
