#include "vnfsd/daemon/moves/order_ages.h"

#include <utility>

namespace symnas::vnfsd::daemon {

std::map<Revision, std::int64_t> OrderAges::look(std::int64_t now_ns, const ClusterView& view) {
  std::map<Revision, std::int64_t> since_ns;
  std::map<Revision, std::int64_t> ages;
  for (const auto& [vnfs, move] : view.moves) {
    const auto before = since_ns_.find(move.mod_revision);
    const std::int64_t since = before == since_ns_.end() ? now_ns : before->second;
    since_ns.emplace(move.mod_revision, since);
    ages.emplace(move.mod_revision, now_ns - since);
  }
  since_ns_ = std::move(since_ns);
  return ages;
}

}  // namespace symnas::vnfsd::daemon
