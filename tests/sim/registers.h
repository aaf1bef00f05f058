// Registers: a shared file as sectors of 512 bytes that every client writes and reads through any
// mount.
//   - the first kSectors are written in place: what the clients were told about each must have
//     happened in one order (tests/support/register_history.h);
//   - the tail behind them grows and is cut off: size changes write zeros there, and what was
//     written unstable is gone with its instance until it is committed (SizedHistory).
//
// Thread class: for simulated threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fsal_cluster/mount/mount.h"
#include "tests/support/register_history.h"

namespace symnas::sim {

// The instance that a write went through.
struct Through {
  std::size_t head = 0;
  std::uint64_t epoch = 0;
  friend bool operator==(const Through&, const Through&) = default;
};

// A sector that zeros are written to again and again, and whose unstable writes an instance may
// take along when it dies. Knows what no order can explain: a value that nobody has written yet,
// and one that something acknowledged had replaced before the READ was sent.
class SizedHistory {
 public:
  using Lives = std::function<bool(const Through&)>;
  static constexpr std::int64_t kNever = test::RegisterHistory::kNever;

  // It may happen from `start` on, which names it, at any time or never.
  void begin_write(std::uint64_t value, std::int64_t start, Through through);
  enum class Outlives { kNot, kInstance };
  void acknowledged(std::int64_t start, std::int64_t end, Outlives outlives);
  // What was acknowledged through it before `start` is firm.
  void committed(const Through& through, std::int64_t start);
  // Empty: fine.
  std::string add_read(std::uint64_t value, std::int64_t start, std::int64_t end,
                       const Lives& lives) const;

 private:
  struct Write {
    std::uint64_t value = 0;
    std::int64_t start = 0;
    std::int64_t end = kNever;
    Through through;
    bool firm = false;
  };
  std::vector<Write> writes_{{0, 0, 0, {}, true}};  // zeros, before everything
};

class Registers {
 public:
  static constexpr std::uint64_t kSectorBytes = 512;
  static constexpr std::uint64_t kSectors = 48;  // never behind the end of the file
  static constexpr std::uint64_t kTail = 80;     // behind them
  static constexpr std::uint64_t kAll = kSectors + kTail;

  fs::Handle handle;

  // Ascends with every call: what ends before something else starts has a lower one.
  std::int64_t moment() { return ++moment_; }
  static std::string sector(std::uint64_t value);
  // A change: begun before it is sent, ended with what was answered.
  struct Change {
    std::uint64_t first = 0;
    std::vector<std::uint64_t> values;
    std::int64_t start = 0;
  };
  Change begin_write(std::uint64_t first, std::uint64_t count, Through through);
  // The file is to end behind `sectors` of them.
  Change begin_resize(std::uint64_t sectors);
  enum class Outcome { kUnknown, kUnstable, kStable };
  void ended(const Change& change, Outcome outcome);
  void committed(const Through& through, std::int64_t start);
  // What lies behind the end is missing in `bytes`. Empty: fine; else what is wrong with it.
  std::string saw(std::uint64_t first, std::uint64_t count, std::string_view bytes,
                  std::int64_t start, const SizedHistory::Lives& lives);
  // Empty: every sector has a history.
  std::string check() const;

 private:
  std::vector<test::RegisterHistory> histories_{kSectors};
  std::vector<SizedHistory> tail_{kTail};
  std::int64_t moment_ = 0;
  std::uint64_t newest_ = 0;
};

}  // namespace symnas::sim
