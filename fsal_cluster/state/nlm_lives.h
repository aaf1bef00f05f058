// NlmLives: which lives of NLM clients are over, and which clients have LOCKs under way. A client
// that has told of a new life has lost what it locked before. So a LOCK that it sent in a former
// life, and whose turn comes only now, may not be granted. Pure.
//
// In memory only: a request that waits in this process ends with it, and so does its connection.
// Its client has a new life and does not send it again.
//
// Thread class: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace symnas::fs {

// For how long a LOCK may arrive after the notice although it was sent before it. A machine that is
// switched off with its request in a connection's buffers boots before it tells; one whose numbers
// of lives begin again (installed again) takes longer to be back. Only time in which this mount has
// served without a break counts, because what arrives while the process is stopped is read
// afterwards.
inline constexpr std::int64_t kLifeRememberedNs = 10'000'000'000;
// Clients that are remembered: as many as hold locks in a large installation, in about 100 KiB. Any
// sender from a reserved port adds one; the oldest makes room.
inline constexpr std::size_t kLivesRemembered = 1024;

class NlmLives {
 public:
  // The client at `address` lives as `state` from now on. An older state, or 0, changes nothing.
  void note(const std::string& address, std::int32_t state, std::int64_t now_ns,
            std::int64_t serving_since_ns);
  // Whether a client that asks in the life `state` has told of a later life: within
  // kLifeRememberedNs of service before its request began, or at any time after that. False for
  // state 0.
  bool is_over(const std::string& address, std::int32_t state, std::int64_t begun_ns,
               std::int64_t serving_since_ns) const;

  // A LOCK of the client is worked on from begin() to end().
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
