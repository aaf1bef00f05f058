// Registers: a shared file as sectors of 512 bytes that every client writes in place and reads
// through any mount. What the clients were told about each sector must have happened in one order
// (tests/support/register_history.h).
//
// Thread class: for simulated threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fsal_cluster/mount.h"
#include "tests/support/register_history.h"

namespace symnas::sim {

class Registers {
 public:
  static constexpr std::uint64_t kSectorBytes = 512;
  static constexpr std::uint64_t kSectors = 48;  // with a history; behind them the size changes

  fs::Handle handle;

  // Ascends with every call: what ends before something else starts has a lower one.
  std::int64_t moment() { return ++moment_; }
  std::uint64_t new_value() { return ++newest_; }
  static std::string sector(std::uint64_t value);
  void wrote(std::uint64_t first, const std::vector<std::uint64_t>& values, std::int64_t start,
             bool acknowledged);
  // Empty: fine; else what is wrong with the bytes themselves.
  std::string saw(std::uint64_t first, std::string_view bytes, std::int64_t start);
  // Empty: every sector has a history.
  std::string check() const;

 private:
  std::vector<test::RegisterHistory> histories_{kSectors};
  std::int64_t moment_ = 0;
  std::uint64_t newest_ = 0;
};

}  // namespace symnas::sim
