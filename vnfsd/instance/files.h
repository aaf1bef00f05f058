// Files of vnfsd: written completely or not at all. Thread-safe: functions without state.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/base/result.h"

namespace symnas::vnfsd::instance {

// Writes `path` through a temporary file in its directory and rename(2). Errors: kIo.
Status write_file_atomically(const std::string& path, const std::string& text, mode_t mode);
// Errors: kNotFound, kIo.
Result<std::string> read_file(const std::string& path);
// Its lines as one; "" when it cannot be read.
std::string lines_of(const std::string& path);
// With parents, mode 0700 for what is made. Errors: kIo.
Status make_directories(const std::string& path);
// Everything below `path`, and it; missing is success. Errors: kIo.
Status remove_tree(const std::string& path);

}  // namespace symnas::vnfsd::instance
