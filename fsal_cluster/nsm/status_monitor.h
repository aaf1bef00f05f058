// The status monitor of an instance: what it replies to a call (XNFS chapter 11, program 100024
// version 1). Pure.
//
// The monitor monitors no host on request: the NLM beside it records every lock, and every client
// that has a recorded lock is notified. So SM_NOTIFY is the only procedure that does anything. An
// SM_NOTIFY releases locks, and is therefore obeyed only when it comes from an address that holds
// NLM locks, and from a reserved port.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace symnas::nsm {

struct Peer {
  std::string address;  // text
  std::uint16_t port = 0;
};

// A client that lost its locks; `state` is its life from now on.
struct Reboot {
  std::string address;
  std::int32_t state = 0;
  friend bool operator==(const Reboot&, const Reboot&) = default;
};

struct Reply {
  std::string message;           // ONC RPC; "": none is due, what came was no call
  std::optional<Reboot> reboot;  // set: the reply is due when the client's old locks are released
  std::string refused;           // why an SM_NOTIFY is answered but not obeyed; "": it is obeyed
};

// What the instance knows of its NLM clients, by their addresses. Thread-safe.
struct Clients {
  // A client has told of a life, whether it has locks or not: from now on it locks nothing in
  // former ones. Called before has_locks().
  std::function<void(const Reboot&)> note;
  // Whether locks of the client at an address are recorded, or being recorded.
  std::function<bool(const std::string&)> has_locks;
};

// `state`: the number of this life of the instance.
Reply answer(std::string_view message, const Peer& peer, std::int32_t state,
             const Clients& clients);

}  // namespace symnas::nsm
