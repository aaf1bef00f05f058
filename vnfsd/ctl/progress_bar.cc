#include "vnfsd/ctl/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/wire.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kColumns = 79;
constexpr auto kJobPoll = std::chrono::milliseconds(200);
constexpr auto kAwayAtMost = std::chrono::seconds(30);  // a vnfsd that is started anew
constexpr int kForEver = 7 * 24 * 3600;

std::optional<double> share_of(const json& job) {
  if (!job.contains("share")) return std::nullopt;
  return job["share"].get<double>();
}

}  // namespace

bool is_looked_at(const Context& context) {
  const char* const term = std::getenv("TERM");
  return context.output == Output::kTable && context.out.rdbuf() == std::cout.rdbuf() &&
         ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && term != nullptr &&
         std::string(term) != "dumb";
}

std::string bar_line(std::optional<double> share, const std::string& text, std::size_t columns) {
  std::string bar = std::string(kBarWidth, '-');
  std::string percent = "   ?";
  if (share) {
    const double part = std::clamp(*share, 0.0, 1.0);
    const auto full = static_cast<std::size_t>(std::lround(part * kBarWidth));
    bar.replace(0, full, full, '#');
    percent = fmt::format("{:3} %", static_cast<int>(part * 100));
  }
  std::string line = fmt::format("[{}] {}  {}", bar, percent, text);
  // What vnfsd says may hold names from anywhere.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return line.substr(0, columns);
}

ProgressBar::~ProgressBar() {
  if (is_shown_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::show(std::optional<double> share, const std::string& text) {
  if (!is_shown_) return;
  fmt::print(stderr, "\r\x1b[K{}", bar_line(share, text, kColumns));
  std::fflush(stderr);
}

Error error_of_job(const json& job) { return api::error_from_json(job); }

Result<json> follow_job(Context& context, std::uint64_t id, int timeout_s) {
  const auto end = Clock::now() + std::chrono::seconds(timeout_s);
  auto heard = Clock::now();
  ProgressBar bar(context);
  for (;;) {
    const auto reply = context.client.request("GET", fmt::format("/v1/jobs/{}", id), {});
    if (reply) {
      heard = Clock::now();
      const json job = reply->value("job", json::object());
      if (job.value("state", "") != "running") return job;
      bar.show(share_of(job), fmt::format("job {}: {}", id, job.value("text", "")));
    } else if (reply.error().code != ErrorCode::kShutdown || Clock::now() - heard > kAwayAtMost) {
      return tl::unexpected<Error>(reply.error());
    } else {
      bar.show(std::nullopt, fmt::format("job {}: vnfsd does not answer", id));
    }
    if (Clock::now() >= end) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("job {}: has not ended after {} s, it goes on (symnas job show {})",
                              id, timeout_s, id));
    }
    std::this_thread::sleep_for(kJobPoll);
  }
}

Result<json> request_long(Context& context, const std::string& path, const json& body) {
  if (!is_looked_at(context)) return context.client.request("POST", path, body);
  SYMNAS_ASSIGN(const json begun, context.client.request("POST", path + "?async=true", body));
  SYMNAS_ASSIGN(const json job,
                follow_job(context, begun.at("job").value("id", std::uint64_t{0}), kForEver));
  if (job.value("state", "") == "done") return job.value("result", json::object());
  return tl::unexpected<Error>(error_of_job(job));
}

}  // namespace symnas::vnfsd::ctl
