// HeadClock: the time that most heads agree on, for the times of files. vnfsd writes it into a file
// (docs/formats/instance_clock.md), which is read again now and then; without the file it is the
// kernel's wall clock. Thread-safe, lock-free but for the reading.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/env/clock.h"

namespace symnas::plugin {

// What the file says for the boot `incarnation`: wall clock less monotonic clock, in nanoseconds.
// nullopt: it is another boot's, or no such file.
std::optional<std::int64_t> parse_clock_file(std::string_view text, std::string_view incarnation);

class HeadClock final : public env::Clock {
 public:
  // `path`: "" = there is no file.
  HeadClock(std::string path, std::string incarnation, const env::Clock& kernel)
      : path_(std::move(path)), incarnation_(std::move(incarnation)), kernel_(kernel) {}

  std::int64_t mono_ns() const override { return kernel_.mono_ns(); }
  std::int64_t wall_ns() const override;

 private:
  void read_again() const;

  const std::string path_;
  const std::string incarnation_;
  const env::Clock& kernel_;
  mutable std::atomic<std::int64_t> next_read_ns_{0};
  mutable std::atomic<std::int64_t> base_ns_{0};  // 0: none
};

}  // namespace symnas::plugin
