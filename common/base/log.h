// Logging over spdlog. Thread-safe. One line per event; secrets and file contents never appear.
// In ganesha's process the text goes to stderr of the instance, which vnfsd writes to the
// instance's log.
#pragma once

#include <string_view>

#include <fmt/core.h>

namespace symnas::log {

enum class Level { kDebug, kInfo, kWarn, kError };

// Logs the text that the other arguments make. The formatting is done in log.cc: spdlog's own
// templates would compile all of fmt into every caller.
void write(Level level, fmt::string_view format, fmt::format_args args);

// Format strings are checked at compile time.
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kDebug, format, fmt::make_format_args(args...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kInfo, format, fmt::make_format_args(args...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kWarn, format, fmt::make_format_args(args...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kError, format, fmt::make_format_args(args...));
}

// Writes out what is buffered: before a process ends without its destructors.
void flush();

// Sends all logging of this process to stderr in the form "time level [component] text".
// level: trace, debug, info, warn, error. Unknown levels mean info.
void init(std::string_view component, std::string_view level);

}  // namespace symnas::log
