// PeerWatch: knows which heads have fallen silent. It is told of every probe that comes in, and is
// asked many times a second; it decides nothing. Thread class: thread-compatible.
//
// Invariant: silence counts only while this head itself was awake: a head that was paused, or got
// no processor time, blames nobody for that time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace symnas::ha {

// How often a head sends a probe to every other head, and how often look() is to be called.
inline constexpr std::int64_t kProbeMs = 100;
// Two probes in a row are missing, on every path: time to ask whether the head's VIPs answer, so
// that this is known when kSilentMs is over.
inline constexpr std::int64_t kSuspectMs = 200;
// Five probes in a row are missing: more than packet loss or a busy processor explains.
inline constexpr std::int64_t kSilentMs = 500;
// A boot counts as steady when it has been heard for so long without silence. A boot that is not
// steady is not missed: it may be ending, or beginning.
inline constexpr std::int64_t kSteadyMs = 3'000;
// A boot that is registered but was never heard by this head is missed all the same, but only after
// the time in which a machine boots again: after a failure of all heads one of them is up first,
// and must not cut off those that come later. (A boot that was heard is missed by the heads that
// have heard it.)
inline constexpr std::int64_t kUnheardMs = 300'000;
// When the time between two looks is longer than this, this head was paused: the pause does not
// count in any age.
inline constexpr std::int64_t kLookPauseMs = 300;

struct PeerSight {
  std::string head;
  std::string incarnation;     // the boot
  std::int64_t silent_ms = 0;  // since its last probe on any path
  bool suspect = false;        // for kSuspectMs after it was steady
  bool silent = false;         // for kSilentMs after it was steady, or for kUnheardMs
  std::vector<std::int64_t> paths_silent_ms;  // by path; -1: never heard there
};

class PeerWatch {
 public:
  // To be called with each probe of that boot. `path`: the network it came through.
  void heard(const std::string& head, const std::string& incarnation, std::size_t path,
             std::int64_t now_ms);
  // That boot is registered: probes of it are expected from now on.
  void expect(const std::string& head, const std::string& incarnation, std::int64_t now_ms);
  // The sights of all boots that were expected or heard, by head. To be called every kProbeMs.
  std::vector<PeerSight> look(std::int64_t now_ms);
  // Forgets heads that are not members any more.
  void keep_only(const std::set<std::string>& heads);

 private:
  struct Peer {
    std::int64_t steady_since_ms = 0;
    std::int64_t heard_ms = 0;
    std::vector<std::int64_t> paths_ms;
    bool steady = false;
  };
  Peer& peer_of(const std::string& head, const std::string& incarnation, std::int64_t now_ms);

  std::map<std::pair<std::string, std::string>, Peer> peers_;  // by head and boot; one boot each
  std::int64_t looked_ms_ = 0;
};

}  // namespace symnas::ha
