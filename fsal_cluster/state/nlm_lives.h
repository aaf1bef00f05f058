// NlmLives: which lives of NLM clients are over, and whose LOCKs are under way. A client that has
// told of a new life has lost what it locked before; so a LOCK that it sent in a former one, and
// that comes to its turn only now, may not be granted. Pure.
//
// In memory only: a request that waits in this process ends with it, and with its connection; its
// client, which lives anew, does not send it again.
//
// Thread class: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace symnas::fs {

// For how long a LOCK may come to us behind the notice that it was sent before: a machine that is
// switched off with its request in a connection's buffers boots before it tells, and one that
// counts anew (installed again) takes longer to be back. Only time in which this mount has served
// without a break counts: what arrived in a pause of the process is read after it.
inline constexpr std::int64_t kLifeRememberedNs = 10'000'000'000;
// Clients that are remembered: as many as hold locks in a large installation, in about 100 KiB.
// Whoever can send from a reserved port adds one; the oldest makes room.
inline constexpr std::size_t kLivesRemembered = 1024;

class NlmLives {
 public:
  // The client at `address` lives as `state` from now on. An older one, or 0, tells nothing.
  void note(const std::string& address, std::int32_t state, std::int64_t now_ns,
            std::int64_t serving_since_ns);
  // Whether a client that asks in the life `state` has told of a later one, however long ago if its
  // request was begun before. False for 0.
  bool is_over(const std::string& address, std::int32_t state, std::int64_t begun_ns,
               std::int64_t serving_since_ns) const;

  // A LOCK of it is being worked on, from begin() to end().
  void begin(const std::string& address) { ++under_way_[address]; }
  void end(const std::string& address);
  bool any_under_way(const std::string& address) const { return under_way_.contains(address); }

 private:
  struct Known {
    std::int32_t state = 0;
    std::int64_t since_ns = 0;
  };
  std::map<std::string, Known> known_;
  std::map<std::string, std::size_t> under_way_;
};

}  // namespace symnas::fs
