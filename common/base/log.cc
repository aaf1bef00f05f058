#include "common/base/log.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/base/repeats.h"
#include "common/base/thread_annotations.h"

namespace symnas::log {
namespace {

// Of one kind, which is one format string, so many messages are written in a minute: a state that
// lasts, or a client, makes the same one come again and again. There are as many kinds as calls.
constexpr std::uint32_t kOfOneKindMax = 20;
constexpr std::int64_t kPeriodNs = 60'000'000'000;

struct Kinds {
  Mutex mutex;
  std::unordered_map<const void*, Repeats> seen GUARDED_BY(mutex);
};

std::optional<std::uint64_t> admit(const void* kind) {
  static Kinds* const kinds = new Kinds;  // for ever: others log while the process ends
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t now_ns = std::chrono::nanoseconds(now).count();
  const MutexLock lock(kinds->mutex);
  return kinds->seen.try_emplace(kind, kOfOneKindMax, kPeriodNs).first->second.admit(now_ns);
}

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
  const auto counted = level == Level::kDebug ? 0 : admit(format.data());
  if (!counted) return;
  std::string text = fmt::vformat(format, args);
  if (*counted > 0) text += fmt::format(" ({} more of this kind were not logged)", *counted);
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
