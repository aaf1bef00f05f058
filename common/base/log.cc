#include "common/base/log.h"

#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace symnas::log {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarn: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void write(Level level, fmt::string_view format, fmt::format_args args) {
  spdlog::logger* logger = spdlog::default_logger_raw();
  if (!logger->should_log(spdlog_level(level))) return;
  const std::string text = fmt::vformat(format, args);
  logger->log(spdlog_level(level), spdlog::string_view_t(text));
}

void flush() { spdlog::default_logger_raw()->flush(); }

void init(std::string_view component, std::string_view level) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>(std::string(component), sink);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l [%n] %v");
  const auto parsed = spdlog::level::from_str(std::string(level));
  logger->set_level(parsed == spdlog::level::off ? spdlog::level::info : parsed);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace symnas::log
