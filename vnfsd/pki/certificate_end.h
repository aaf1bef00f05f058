// When a certificate ends. Thread-safe: a function without state.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace symnas::vnfsd::pki {

// Of the first certificate in the PEM file; seconds since 1970. Errors: kNotFound (the file cannot
// be read), kInvalidArgument (it holds no certificate).
Result<std::int64_t> certificate_end(const std::string& path);

}  // namespace symnas::vnfsd::pki
