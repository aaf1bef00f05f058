// ReplyRing: in which of its places the next answer to a client is kept. The oldest one is given
// up when it has rested for kReplyRestNs or all kRepliesPerClientMax are taken; else a new one is
// begun. Thread-compatible; pure.
#pragma once

#include <cstdint>
#include <deque>

namespace symnas::fs {

class ReplyRing {
 public:
  // `now_ns` never goes back.
  std::uint32_t take(std::int64_t now_ns);
  // When a place was last taken; 0: never.
  std::int64_t last_ns() const { return uses_.empty() ? 0 : uses_.back().at_ns; }

 private:
  struct Use {
    std::int64_t at_ns;
    std::uint32_t place;
  };
  std::deque<Use> uses_;  // oldest first; one per place
};

}  // namespace symnas::fs
