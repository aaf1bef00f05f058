#include "vnfsd/records/head_state.h"

namespace symnas::vnfsd {

const records::FenceRecord* fence_of(const ClusterView& view, const std::string& head) {
  const auto known = view.heads.find(head);
  const auto fence = view.fences.find(head);
  if (known == view.heads.end() || fence == view.fences.end()) return nullptr;
  if (fence->second.record.incarnation() != known->second.record.incarnation()) return nullptr;
  return &fence->second.record;
}

std::string state_of_head(const ClusterView& view, const std::string& head) {
  const auto known = view.heads.find(head);
  if (known == view.heads.end() || known->second.record.incarnation().empty()) return "unknown";
  if (const auto* fence = fence_of(view, head)) {
    if (fence->state() == records::FENCE_DONE) return "fenced";
    return fence->state() == records::FENCE_FAILED ? "unfenced" : "fencing";
  }
  return known->second.record.draining() ? "draining" : "serving";
}

}  // namespace symnas::vnfsd
