#include "vnfsd/daemon/health/health.h"

#include <fmt/core.h>

#include "vnfsd/daemon/health/limits.h"

namespace symnas::vnfsd::daemon {

void Health::was_ill(std::int64_t now_ms, const std::string& why) {
  ill_ms_ = now_ms;
  why_ = why;
}

void Health::asked(std::int64_t now_ms) { asked_ms_ = now_ms; }

void Health::answered(std::int64_t now_ms, const std::string& error) {
  asked_ms_ = -1;
  refused_ms_ = -1;
  if (error.empty()) {
    failing_ms_ = -1;
    failures_ = 0;
    return;
  }
  if (failing_ms_ < 0) failing_ms_ = now_ms;
  ++failures_;
  error_ = error;
}

void Health::refused(std::int64_t now_ms, const std::string& error) {
  const std::int64_t since_ms = refused_ms_ < 0 ? now_ms : refused_ms_;
  answered(now_ms, now_ms - since_ms < kRegistersMs ? "" : error);
  refused_ms_ = since_ms;
}

bool Health::fails(std::int64_t now_ms) const {
  const bool hangs = asked_ms_ >= 0 && now_ms - asked_ms_ >= kHangsMs;
  const bool errs =
      failures_ >= kFailuresMin && failing_ms_ >= 0 && now_ms - failing_ms_ >= kFailsMs;
  return hangs || errs;
}

Health::State Health::look(std::int64_t now_ms) {
  if (fails(now_ms)) {
    if (ill_ms_ < 0) ill_ms_ = now_ms;
    well_ms_ = -1;
    const bool hangs = asked_ms_ >= 0 && now_ms - asked_ms_ >= kHangsMs;
    why_ = hangs ? fmt::format("no answer for {} s or more", kHangsMs / 1000) : error_;
    return now_ms - ill_ms_ >= kWorseMs ? State::kWorse : State::kIll;
  }
  if (ill_ms_ < 0) return refused_ms_ < 0 ? State::kWell : State::kRegistering;
  const bool answers = failures_ == 0 && asked_ms_ < 0 && refused_ms_ < 0;
  if (!answers && failures_ > 0) well_ms_ = -1;
  if (answers && well_ms_ < 0) well_ms_ = now_ms;
  if (well_ms_ >= 0 && now_ms - well_ms_ >= kWellMs) {
    ill_ms_ = well_ms_ = -1;
    why_.clear();
    return State::kWell;
  }
  return State::kIll;
}

}  // namespace symnas::vnfsd::daemon
