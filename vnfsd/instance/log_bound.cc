#include "vnfsd/instance/log_bound.h"

#include <chrono>

#include "common/base/log.h"
#include "vnfsd/instance/instance_log.h"
#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {

void LogBound::look(std::int64_t now_ms) {
  if (now_ms < look_ms_) return;
  look_ms_ = now_ms + kLogLookMs;
  const auto done = std::future_status::ready;
  if (looking_.valid() && looking_.wait_for(std::chrono::seconds(0)) != done) return;
  looking_ = std::async(std::launch::async, [vnfs = vnfs_, path = path_] {
    const auto bounded = bound_log(path, kLogBytesMax);
    if (!bounded) log::warn("vnfs {}: its log: {}", vnfs, bounded.error().message);
    if (bounded && *bounded)
      log::info("vnfs {}: its log was too large: it begins anew, and is kept as {}", vnfs,
                former_log(path));
  });
}

}  // namespace symnas::vnfsd::instance
