#include "fsal_cluster/token/write_flag.h"

#include <algorithm>

#include "common/base/check.h"

namespace symnas::fs {

WriteFlag::Step WriteFlag::want_write(std::int64_t now_ns) {
  switch (state_) {
    case State::kSet: last_use_ns_ = std::max(last_use_ns_, now_ns); return Step::kProceed;
    case State::kClear: state_ = State::kSetting; return Step::kSetNow;
    case State::kSetting:
    case State::kDropping: return Step::kWait;
  }
  return Step::kWait;
}

void WriteFlag::set_done(bool succeeded, std::int64_t now_ns) {
  CHECK(state_ == State::kSetting);
  state_ = succeeded ? State::kSet : State::kClear;
  if (!succeeded) return;
  last_use_ns_ = now_ns;
  const bool soon = dropped_before_ && now_ns - dropped_ns_ < std::max(hold_ns_, kWriteFlagHoldNs);
  hold_ns_ = soon ? std::min(hold_ns_ * 2, kWriteFlagHoldMaxNs) : kWriteFlagHoldNs;
}

void WriteFlag::adopt(std::int64_t now_ns) {
  CHECK(state_ == State::kClear);
  state_ = State::kSet;
  last_use_ns_ = now_ns;
}

void WriteFlag::wrote(std::int64_t now_ns) {
  CHECK(state_ == State::kSet, "data written without the flag");
  last_use_ns_ = std::max(last_use_ns_, now_ns);
}

void WriteFlag::begin_drop() {
  CHECK(state_ == State::kSet);
  state_ = State::kDropping;
}

void WriteFlag::drop_done(bool succeeded, std::int64_t now_ns) {
  CHECK(state_ == State::kDropping);
  if (!succeeded) {
    state_ = State::kSet;
    last_use_ns_ = now_ns;
    return;
  }
  state_ = State::kClear;
  dropped_before_ = true;
  dropped_ns_ = now_ns;
}

}  // namespace symnas::fs
