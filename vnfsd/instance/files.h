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
// The file's lines as one line; "" when the file cannot be read.
std::string lines_of(const std::string& path);
// Makes a directory with its parents, mode 0700 for those that are made. Errors: kIo.
Status make_directories(const std::string& path);
// Removes `path` and everything below it; success also when it is missing. Errors: kIo.
Status remove_tree(const std::string& path);

}  // namespace symnas::vnfsd::instance
