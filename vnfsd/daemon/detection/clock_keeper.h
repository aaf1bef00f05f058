// ClockKeeper: tells the instances of this head what time it is for most heads, and says when the
// clock of this head is not with them (ha/detection/clock_spread.h). Thread class: confined to the
// loop that calls look(); told() is thread-safe.
//
// Instances go by the file `run_dir/clock` (docs/formats/instance_clock.md): so a head whose clock
// was set does not put times of files into the future on all heads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ha/detection/clock_spread.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

class ClockKeeper {
 public:
  ClockKeeper(const ThisHead& head, EventWriter& events);

  // To be called every kHeadLookMs. nullopt: no other head's clock is known; the file
  // stays for kClockAloneMs, then this head's clock is gone by.
  void look(const std::optional<ha::ClockSpread::Sight>& sight);

 private:
  void note(std::int64_t base_ns);
  void write(std::int64_t base_ns);
  void tell(std::int64_t ahead_ns);

  const ThisHead& head_;
  EventWriter& events_;
  const std::string path_;
  std::int64_t looked_ms_ = 0;
  std::int64_t heard_ms_ = 0;  // when another head's clock was known last; at first: of the start
  std::optional<std::int64_t> written_ns_;
  bool is_off_ = false;  // it was told that this head's clock is
};

}  // namespace symnas::vnfsd::daemon
