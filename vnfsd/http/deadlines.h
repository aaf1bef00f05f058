// Deadlines: how long a peer may take. Patience: how much of that one connection has left, confined
// to one thread. Invariant: whatever a peer does byte by byte, it gets no more time by it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd {

struct Deadlines {
  // A handshake is three messages; a slow network takes a second for them.
  std::int64_t handshake_ms = 5'000;
  // From there to the end of the body, which has 1 MiB at most.
  std::int64_t request_ms = 15'000;
  // An answer may wait for its reader so long at once, and in all so long as this rate needs.
  std::int64_t write_ms = 15'000;
  std::int64_t slowest_bytes_per_s = 64 << 10;
};

class Patience {
 public:
  // The request's time begins.
  explicit Patience(const Deadlines& deadlines);

  // When a read is to be over, and a write that begins now; by now_ms().
  std::int64_t read_by_ms() const { return read_by_ms_; }
  std::int64_t write_by_ms() const;
  void wrote(std::size_t bytes, std::int64_t waited_ms);

  // Of a clock that never goes back.
  static std::int64_t now_ms();
  // Waits for events (poll(2)) until then. False: none came.
  static bool wait(int fd, short events, std::int64_t by_ms);

 private:
  const Deadlines deadlines_;
  const std::int64_t read_by_ms_;
  std::int64_t written_bytes_ = 0;
  std::int64_t waited_ms_ = 0;
};

}  // namespace symnas::vnfsd
