#include "fsal_cluster/plugin/milestones.h"

#include <atomic>

#include "common/env/clock.h"

namespace symnas::plugin {
namespace {

std::atomic<std::int64_t> first_request_ns{0};
std::atomic<std::int64_t> last_reclaim_ns{0};

}  // namespace

void note_request() {
  if (first_request_ns.load(std::memory_order_relaxed) != 0) return;
  std::int64_t none = 0;
  first_request_ns.compare_exchange_strong(none, env::system_clock().mono_ns());
}

void note_reclaim() { last_reclaim_ns.store(env::system_clock().mono_ns()); }

Milestones milestones() { return {first_request_ns.load(), last_reclaim_ns.load()}; }

}  // namespace symnas::plugin
