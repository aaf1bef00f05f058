// Watch: a command that shows something, again and again (--watch). Thread-compatible.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "common/base/result.h"
#include "vnfsd/ctl/context.h"
#include "vnfsd/ctl/terminal.h"

namespace symnas::vnfsd::ctl {

struct WatchWish {
  int period_s = 2;
  Output output = Output::kTable;
  std::string title;  // the command, for the first line of a screen
};

// One look: writes into `out`. Its error is shown, and the next look is tried all the same.
using Look = std::function<Status(std::ostream& out)>;

// Looks until `surroundings.wait` says that it is to end, or `out` cannot be written. On a terminal
// each look takes the place of the one before; else it follows it, below a line with the time, and
// with kJson as one line. What the last good look has shown stays while looks fail. Returns the
// error of the first look if it is one that time does not mend (kInvalidArgument, kNotFound,
// kNotSupported).
Status watch(const WatchWish& wish, const Surroundings& surroundings, std::ostream& out,
             const Look& look);

// The screen of one look: lines that are cut to the terminal's columns and rows, each of which
// clears the rest of its row, from the top left corner on.
std::string screen_of(const std::string& text, const Terminal& terminal);

}  // namespace symnas::vnfsd::ctl
