#include "vnfsd/ctl/watch.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/env/clock.h"
#include "vnfsd/api/wire.h"

namespace symnas::vnfsd::ctl {
namespace {

constexpr const char* kHome = "\x1b[H";        // the cursor goes to the top left corner
constexpr const char* kClearRow = "\x1b[K";    // from the cursor on
constexpr const char* kClearBelow = "\x1b[J";  // from the cursor on
constexpr const char* kClearScreen = "\x1b[2J";

std::string now_text() { return local_time(env::system_clock().wall_ns()); }

bool never_mends(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound ||
         error.code == ErrorCode::kNotSupported;
}

// A document on one line; what is none stays as it is.
std::string as_line(const std::string& text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  return document.is_discarded() ? text : document.dump() + "\n";
}

std::string away_text(const WatchWish& wish, const Error& error) {
  return fmt::format("symnas: {} (asking again every {} s)\n", error.message, wish.period_s);
}

}  // namespace

std::string screen_of(const std::string& text, const Terminal& terminal) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const std::size_t rows = std::max<std::size_t>(terminal.rows, 2) - 1;  // the cursor has the last
  std::string out = kHome;
  for (std::size_t i = 0; i < std::min(rows, lines.size()); ++i) {
    const bool more = i + 1 == rows && lines.size() > rows;
    const std::string line =
        more ? fmt::format("... {} more lines", lines.size() - rows + 1) : lines[i];
    out += cut_to(line, terminal.columns) + kClearRow + "\n";
  }
  return out + kClearBelow;
}

Status watch(const WatchWish& wish, const Surroundings& surroundings, std::ostream& out,
             const Look& look) {
  const bool redraws = surroundings.terminal.is_terminal && !surroundings.terminal.is_dumb &&
                       wish.output == Output::kTable;
  surroundings.wait(std::chrono::milliseconds(0));  // Ctrl-C ends it well from now on
  std::string shown;
  if (redraws) out << kClearScreen;
  for (bool first = true;; first = false) {
    std::ostringstream text;
    const Status looked = look(text);
    if (!looked && first && never_mends(looked.error())) return looked;
    if (redraws) {
      if (looked || !text.str().empty()) shown = text.str();
      out << screen_of(
          fmt::format("{}  every {} s: symnas {}\n{}\n{}", now_text(), wish.period_s, wish.title,
                      looked ? "" : away_text(wish, looked.error()), shown),
          surroundings.look());
    } else if (wish.output == Output::kJson) {
      out << as_line(text.str());
      if (!looked) out << api::error_to_json(looked.error()).dump() << "\n";
    } else {
      out << "--- " << now_text() << "\n"
          << text.str() << (looked ? "" : away_text(wish, looked.error()));
    }
    out.flush();
    if (!out.good() || !surroundings.wait(std::chrono::seconds(wish.period_s))) return {};
  }
}

}  // namespace symnas::vnfsd::ctl
