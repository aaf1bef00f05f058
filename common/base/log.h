// Logging over spdlog. Thread-safe. One line per event; secrets and file contents never appear.
// In ganesha's process the text goes to stderr of the instance, which vnfsd writes to the
// instance's log.
#pragma once

#include <string_view>

#include <spdlog/spdlog.h>

namespace symnas::log {

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

// Sends all logging of this process to stderr in the form "time level [component] text".
// level: trace, debug, info, warn, error. Unknown levels mean info.
void init(std::string_view component, std::string_view level);

}  // namespace symnas::log
