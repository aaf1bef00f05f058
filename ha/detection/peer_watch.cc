#include "ha/detection/peer_watch.h"

#include <algorithm>

namespace symnas::ha {

PeerWatch::Peer& PeerWatch::peer_of(const std::string& head, const std::string& incarnation,
                                    std::int64_t now_ms) {
  // A probe of a new boot shows that an older boot of the head has ended.
  std::erase_if(peers_, [&](const auto& entry) {
    return entry.first.first == head && entry.first.second != incarnation;
  });
  const auto [it, is_new] = peers_.try_emplace({head, incarnation});
  if (is_new) it->second.heard_ms = it->second.steady_since_ms = now_ms;
  return it->second;
}

void PeerWatch::expect(const std::string& head, const std::string& incarnation,
                       std::int64_t now_ms) {
  peer_of(head, incarnation, now_ms);
}

void PeerWatch::heard(const std::string& head, const std::string& incarnation, std::size_t path,
                      std::int64_t now_ms) {
  Peer& peer = peer_of(head, incarnation, now_ms);
  if (now_ms - peer.heard_ms >= kSilentMs) {
    peer.steady_since_ms = now_ms;
    peer.steady = false;
  }
  peer.steady = peer.steady || now_ms - peer.steady_since_ms >= kSteadyMs;
  peer.heard_ms = now_ms;
  if (peer.paths_ms.size() <= path) peer.paths_ms.resize(path + 1, -1);
  peer.paths_ms[path] = now_ms;
}

std::vector<PeerSight> PeerWatch::look(std::int64_t now_ms) {
  const std::int64_t pause_ms = looked_ms_ == 0 ? 0 : now_ms - looked_ms_;
  looked_ms_ = now_ms;
  std::vector<PeerSight> sights;
  for (auto& [name, peer] : peers_) {
    if (pause_ms > kLookPauseMs) {
      peer.heard_ms += pause_ms;
      for (std::int64_t& path_ms : peer.paths_ms) path_ms += path_ms < 0 ? 0 : pause_ms;
    }
    PeerSight& sight = sights.emplace_back();
    sight.head = name.first;
    sight.incarnation = name.second;
    sight.silent_ms = std::max<std::int64_t>(now_ms - peer.heard_ms, 0);
    sight.suspect = peer.steady && sight.silent_ms >= kSuspectMs;
    sight.silent = sight.silent_ms >= (peer.steady ? kSilentMs : kUnheardMs);
    for (const std::int64_t path_ms : peer.paths_ms) {
      sight.paths_silent_ms.push_back(path_ms < 0 ? -1
                                                  : std::max<std::int64_t>(now_ms - path_ms, 0));
    }
  }
  return sights;
}

void PeerWatch::keep_only(const std::set<std::string>& heads) {
  std::erase_if(peers_, [&](const auto& entry) { return !heads.contains(entry.first.first); });
}

}  // namespace symnas::ha
