// The size of an instance's log. ganesha opens it for each message, the plugin holds it open to
// append: so it is not replaced but copied and emptied, as logrotate's copytruncate does. A line
// that is written meanwhile may be lost. Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace symnas::vnfsd::instance {

// Where the former content of the log is kept.
std::string former_log(const std::string& path);
// A log of more than `bytes_max` is copied to former_log(), whose content goes, and emptied. What
// cannot be copied (the partition is full) goes, too. Blocks for the time of the copy. True: it was
// emptied. Errors: kIo (the log cannot be emptied); a log that is missing is none.
Result<bool> bound_log(const std::string& path, std::int64_t bytes_max);

}  // namespace symnas::vnfsd::instance
