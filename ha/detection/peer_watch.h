// PeerWatch: which heads have fallen silent. Fed with every probe that comes in and looked at many
// times a second; decides nothing. Thread class: thread-compatible.
//
// Invariant: silence counts only while this head itself was awake: whoever was paused, or starved
// of its processor, blames nobody for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace symnas::ha {

// How often a head sends to each other one, and is to look.
inline constexpr std::int64_t kProbeMs = 100;
// Two probes in a row, on every path: time to ask whether its VIPs answer, so that this is known
// by the time it is missed.
inline constexpr std::int64_t kSuspectMs = 200;
// Five probes in a row: more than what loss or a busy processor takes.
inline constexpr std::int64_t kSilentMs = 500;
// A boot of a head that has not been heard for so long without silence is not missed: it may be
// ending, or beginning.
inline constexpr std::int64_t kSteadyMs = 3'000;
// A boot that is registered and was never heard by this head is missed all the same, but not before
// a machine could have booted anew: after a failure of all heads one of them is the first, and must
// not cut off those that come later. (A boot that was heard is missed by whoever has heard it.)
inline constexpr std::int64_t kUnheardMs = 300'000;
// A longer pause between two looks was ours: all ages begin anew.
inline constexpr std::int64_t kLookPauseMs = 300;

struct PeerSight {
  std::string head;
  std::string incarnation;     // boot
  std::int64_t silent_ms = 0;  // since its last probe on any path
  bool suspect = false;        // for kSuspectMs after it was steady
  bool silent = false;         // for kSilentMs after it was steady, or for kUnheardMs
  std::vector<std::int64_t> paths_silent_ms;  // by path; -1: never heard there
};

class PeerWatch {
 public:
  // A probe of that boot came in. `path`: which of its networks.
  void heard(const std::string& head, const std::string& incarnation, std::size_t path,
             std::int64_t now_ms);
  // That boot is registered: it is to be heard from now on.
  void expect(const std::string& head, const std::string& incarnation, std::int64_t now_ms);
  // All boots that were expected or heard, by head. To be called every kProbeMs.
  std::vector<PeerSight> look(std::int64_t now_ms);
  // Forgets heads that are no members any more.
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
