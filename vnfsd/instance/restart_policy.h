// RestartPolicy: decides when an instance that ended is started again. Pure; the caller brings the
// time. Thread-compatible. Invariant: a start is never refused for ever; pauses are bounded by
// kRestartPauseMaxMs.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::instance {

class RestartPolicy {
 public:
  // The instance began to serve.
  void served(std::int64_t now_ms);
  // The instance ended, or a start failed. Returns the pause before the next start in ms: 0 after
  // the first end of a healthy instance, then kRestartPauseMinMs doubling up to kRestartPauseMaxMs.
  std::int64_t ended(std::int64_t now_ms);
  // The administrator asked for a start: the count begins again.
  void reset() { failures_ = 0; }

 private:
  int failures_ = 0;  // in a row
  std::int64_t serving_since_ms_ = -1;
};

}  // namespace symnas::vnfsd::instance
