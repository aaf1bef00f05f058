#include "vnfsd/http/deadlines.h"

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace symnas::vnfsd {

Patience::Patience(const Deadlines& deadlines)
    : deadlines_(deadlines), read_by_ms_(now_ms() + deadlines.request_ms) {}

std::int64_t Patience::write_by_ms() const {
  const std::int64_t of_all_ms =
      deadlines_.write_ms + written_bytes_ * 1000 / deadlines_.slowest_bytes_per_s - waited_ms_;
  return now_ms() + std::min(deadlines_.write_ms, of_all_ms);
}

void Patience::wrote(std::size_t bytes, std::int64_t waited_ms) {
  written_bytes_ += static_cast<std::int64_t>(bytes);
  waited_ms_ += waited_ms;
}

std::int64_t Patience::now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool Patience::wait(int fd, short events, std::int64_t by_ms) {
  const std::int64_t left_ms = by_ms - now_ms();
  if (left_ms <= 0) return false;
  pollfd entry{fd, events, 0};
  return ::poll(&entry, 1, static_cast<int>(left_ms)) == 1;
}

}  // namespace symnas::vnfsd
