// ScriptedSights: what a head hears of others, as a test says. For tests.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ha/detection/peer_watch.h"
#include "vnfsd/probe/prober.h"

namespace symnas::vnfsd::daemon {

class ScriptedSights final : public probe::HeadSights {
 public:
  void set_peers(std::map<std::string, Peer> now, std::string) override { peers = std::move(now); }
  std::vector<ha::PeerSight> sights() const override { return seen; }

  void hear(const std::string& head, std::int64_t silent_ms) {
    std::erase_if(seen, [&](const ha::PeerSight& one) { return one.head == head; });
    const bool silent = silent_ms >= ha::kSilentMs;
    seen.push_back({.head = head,
                    .incarnation = "boot of " + head,
                    .silent_ms = silent_ms,
                    .suspect = silent,
                    .silent = silent,
                    .paths_silent_ms = {silent_ms}});
  }
  // Registered, and expected for so long.
  void never_heard(const std::string& head, std::int64_t expected_ms) {
    hear(head, expected_ms);
    seen.back().suspect = seen.back().silent = false;
    seen.back().paths_silent_ms = {-1};
  }
  std::vector<ha::PeerSight> seen;
  std::map<std::string, Peer> peers;
};

}  // namespace symnas::vnfsd::daemon
