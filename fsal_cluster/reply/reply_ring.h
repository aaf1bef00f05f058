// ReplyRing: decides in which of a client's places its next answer is kept. The oldest place is
// reused when its answer is older than kReplyRestNs or all kRepliesPerClientMax places are taken;
// else a new place is begun. Thread-compatible; pure.
#pragma once

#include <cstdint>
#include <deque>

namespace symnas::fs {

class ReplyRing {
 public:
  // `now_ns` never goes back.
  std::uint32_t take(std::int64_t now_ns);
  // When a place was last taken; 0: no place was.
  std::int64_t last_ns() const { return uses_.empty() ? 0 : uses_.back().at_ns; }

 private:
  struct Use {
    std::int64_t at_ns;
    std::uint32_t place;
  };
  std::deque<Use> uses_;  // oldest first; one per place
};

}  // namespace symnas::fs
