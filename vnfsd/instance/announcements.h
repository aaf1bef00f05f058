// Announcements: when the VIPs of an instance that serves are announced again. A single packet may
// get lost on a busy switch, and whoever has missed it sends to the old head for as long as its
// table lasts (Linux: 30 to 45 s). Pure; the caller brings the time. Thread-compatible.
#pragma once

#include <cstdint>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {

class Announcements {
 public:
  // The VIPs have just been announced for the first time.
  void begin(std::int64_t now_ms) {
    left_ = kAnnounceAgainTimes;
    due_ms_ = now_ms + kAnnounceAgainMs;
  }
  // The VIPs are going, or have gone.
  void stop() { left_ = 0; }
  bool is_due(std::int64_t now_ms) const { return left_ > 0 && now_ms >= due_ms_; }
  // They were announced again.
  void done(std::int64_t now_ms) {
    --left_;
    due_ms_ = now_ms + kAnnounceAgainMs;
  }

 private:
  int left_ = 0;
  std::int64_t due_ms_ = 0;
};

}  // namespace symnas::vnfsd::instance
