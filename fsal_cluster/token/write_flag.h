// WriteFlag: the life of the write flag in this mount's token of one inode (docs/design.md 5.4).
//   clear -> setting -> set -> dropping -> clear
// A write of data happens only while the flag is set on etcd, so that after a crash the flag says
// "contents may have changed" (INV-5). It is dropped, together with the final times, some time
// after the last write; a file that is written again soon keeps it longer, so that a steady writer
// costs no transactions.
// Thread class: thread-compatible. Pure: the caller runs the transactions and reports their
// outcome.
#pragma once

#include <cstdint>

namespace symnas::fs {

inline constexpr std::int64_t kWriteFlagHoldNs = 2'000'000'000;
inline constexpr std::int64_t kWriteFlagHoldMaxNs = 60'000'000'000;

class WriteFlag {
 public:
  enum class State : std::uint8_t { kClear, kSetting, kSet, kDropping };
  enum class Step { kProceed, kSetNow, kWait };

  State state() const { return state_; }

  // A write is about to start. kProceed: go. kSetNow: the caller runs the setting transaction and
  // calls set_done(). kWait: another transaction is on its way; ask again after its outcome.
  Step want_write(std::int64_t now_ns);
  void set_done(bool succeeded, std::int64_t now_ns);
  // The creating transaction carried the flag. REQUIRES: clear.
  void adopt(std::int64_t now_ns);

  // A write changed data. REQUIRES: set.
  void wrote(std::int64_t now_ns);

  // Earliest time to drop. REQUIRES: set.
  std::int64_t drop_due_ns() const { return last_use_ns_ + hold_ns_; }
  // Whether a transaction that commits something else may drop the flag with it: true for a file
  // that is not written often.
  bool may_drop_with_commit() const {
    return state_ == State::kSet && hold_ns_ == kWriteFlagHoldNs;
  }
  // REQUIRES: set, and no write in flight.
  void begin_drop();
  void drop_done(bool succeeded, std::int64_t now_ns);

 private:
  State state_ = State::kClear;
  bool dropped_before_ = false;
  std::int64_t last_use_ns_ = 0;
  std::int64_t dropped_ns_ = 0;
  std::int64_t hold_ns_ = kWriteFlagHoldNs;
};

}  // namespace symnas::fs
