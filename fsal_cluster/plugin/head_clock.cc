#include "fsal_cluster/plugin/head_clock.h"

#include <charconv>
#include <fstream>
#include <sstream>

#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {

std::optional<std::int64_t> parse_clock_file(std::string_view text, std::string_view incarnation) {
  std::int64_t base_ns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), base_ns);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (rest.size() != incarnation.size() + 2 || rest.front() != ' ' || rest.back() != '\n' ||
      rest.substr(1, incarnation.size()) != incarnation) {
    return std::nullopt;
  }
  return base_ns;
}

std::int64_t HeadClock::wall_ns() const {
  const std::int64_t mono_ns = kernel_.mono_ns();
  std::int64_t next = next_read_ns_.load(std::memory_order_relaxed);
  // One thread reads, the others go on with what is known.
  if (mono_ns >= next &&
      next_read_ns_.compare_exchange_strong(next, mono_ns + kClockReadMs * 1'000'000)) {
    read_again();
  }
  const std::int64_t base_ns = base_ns_.load(std::memory_order_relaxed);
  return base_ns == 0 ? kernel_.wall_ns() : mono_ns + base_ns;
}

void HeadClock::read_again() const {
  if (path_.empty()) return;
  std::ifstream in(path_);
  if (!in) return;
  std::ostringstream text;
  text << in.rdbuf();
  if (const auto base_ns = parse_clock_file(text.str(), incarnation_)) base_ns_.store(*base_ns);
}

}  // namespace symnas::plugin
