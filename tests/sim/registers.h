// Registers: a shared file as sectors of 512 bytes that every client writes and reads through any
// mount.
//  - the first kSectors are written in place: the answers to clients about each must fit one order
//    of events (tests/support/register_history.h);
//  - the tail behind them grows and is truncated: size changes write zeros there, and unstable
//    writes are lost with their instance until they are committed (SizedHistory).
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

// A sector to which zeros are written again and again, and whose unstable writes may be lost when
// an instance dies. Finds what no order can explain: a value that nobody has written yet, and a
// value that something acknowledged had replaced before the READ was sent.
class SizedHistory {
 public:
  using Lives = std::function<bool(const Through&)>;
  static constexpr std::int64_t kNever = test::RegisterHistory::kNever;

  // The write, named by `start`, may happen at any time from then on, or never.
  void begin_write(std::uint64_t value, std::int64_t start, Through through);
  enum class Outlives { kNot, kInstance };
  void acknowledged(std::int64_t start, std::int64_t end, Outlives outlives);
  // What was acknowledged through that instance before `start` cannot be lost any more.
  void committed(const Through& through, std::int64_t start);
  // Returns "" or what is wrong.
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
  static constexpr std::uint64_t kSectors = 48;  // always within the file
  static constexpr std::uint64_t kTail = 80;     // sectors after those
  static constexpr std::uint64_t kAll = kSectors + kTail;

  fs::Handle handle;

  // Grows with every call: when one thing ends before another starts, its moment is lower.
  std::int64_t moment() { return ++moment_; }
  static std::string sector(std::uint64_t value);
  // A change: begun before it is sent, ended with its answer.
  struct Change {
    std::uint64_t first = 0;
    std::vector<std::uint64_t> values;
    std::int64_t start = 0;
  };
  Change begin_write(std::uint64_t first, std::uint64_t count, Through through);
  // A change that sets the end of the file behind `sectors` sectors.
  Change begin_resize(std::uint64_t sectors);
  enum class Outcome { kUnknown, kUnstable, kStable };
  void ended(const Change& change, Outcome outcome);
  void committed(const Through& through, std::int64_t start);
  // What is behind the end of the file is missing in `bytes`. Returns "" or what is wrong with
  // them.
  std::string saw(std::uint64_t first, std::uint64_t count, std::string_view bytes,
                  std::int64_t start, const SizedHistory::Lives& lives);
  // Returns "" when every sector has a possible history.
  std::string check() const;

 private:
  std::vector<test::RegisterHistory> histories_{kSectors};
  std::vector<SizedHistory> tail_{kTail};
  std::int64_t moment_ = 0;
  std::uint64_t newest_ = 0;
};

}  // namespace symnas::sim
