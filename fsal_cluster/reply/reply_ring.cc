#include "fsal_cluster/reply/reply_ring.h"

#include "fsal_cluster/reply/limits.h"

namespace symnas::fs {

std::uint32_t ReplyRing::take(std::int64_t now_ns) {
  std::uint32_t place = static_cast<std::uint32_t>(uses_.size());
  const bool full = place == kRepliesPerClientMax;
  if (full || (!uses_.empty() && now_ns - uses_.front().at_ns >= kReplyRestNs)) {
    place = uses_.front().place;
    uses_.pop_front();
  }
  uses_.push_back({now_ns, place});
  return place;
}

}  // namespace symnas::fs
