// CorosyncWitness: what corosync's membership says of the heads. It is told of every line that
// comes from symnas-corosync-watch; it decides nothing, and proves nothing (docs/decisions/0015).
// Thread class: thread-compatible. No clock, thread or socket of its own.
//
// Invariant: a node is lost only if corosync had it as a member while it was listened to, and lost
// it since: what had never joined may be booting.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ha/detection/corosync/membership.h"

namespace symnas::ha {

// What was said longer ago is no knowledge any more: corosync hangs, or the program does.
inline constexpr std::int64_t kCorosyncFreshMs = 3 * kCorosyncSayMs;

enum class CorosyncState {
  kMember,
  kLost,    // was a member, and is none
  kAbsent,  // is no member, and was none since corosync was listened to
};
std::string_view to_string(CorosyncState state);

// What corosync says now.
struct CorosyncSight {
  struct Head {
    CorosyncState state = CorosyncState::kAbsent;
    std::int64_t lost_ms = 0;  // kLost: when it was lost
  };
  std::string error;                   // why nothing is known; "": corosync answers
  bool quorate = false;                // of this head's partition
  std::map<std::string, Head> heads;   // those that have a node
  std::vector<std::string> no_node;    // heads that have none
  std::vector<std::string> strangers;  // nodes that are no head: "node c2n1", "node 7"

  // Whether corosync's majority has lost the head at `since_ms` or later: what was lost before a
  // silence began says nothing of it.
  bool has_lost(const std::string& head, std::int64_t since_ms) const;
};

class CorosyncWitness {
 public:
  // The addresses of every head, this one included, as text, by name.
  using Heads = std::map<std::string, std::vector<std::string>>;

  void told(CorosyncMembership membership, std::int64_t now_ms);
  // Nobody tells anything any more: all is forgotten.
  void ended(std::string why);
  // A head's node is the one with its name, else the one with one of its addresses.
  CorosyncSight sight(const Heads& heads, std::int64_t now_ms) const;

 private:
  CorosyncMembership now_;
  std::map<std::uint32_t, std::int64_t> lost_ms_;  // by node
  std::int64_t told_ms_ = 0;
  std::string error_ = "has not answered yet";
};

}  // namespace symnas::ha
