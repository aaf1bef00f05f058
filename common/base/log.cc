#include "common/base/log.h"

#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>

namespace symnas::log {

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
