// Arbiter: judges locks from outside NFS. Knows what every client believes that it holds: from the
// moment it has read the answer until it asks for less, dies, or is told otherwise. Two beliefs
// that conflict end the run: one of the locks was stolen.
//
// A file is `kBytes` bytes; the last one stands for everything from there on.
// Thread class: for simulated threads. Never blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fsal_cluster/state/lock_table.h"

namespace symnas::sim {

inline constexpr std::size_t kBytes = 6;

// Bytes first to last of a file.
struct Span {
  std::size_t first = 0;
  std::size_t last = 0;
};
fs::LockRange range_of(Span span, fs::LockMode mode);
// Any non-empty one.
Span draw_span();

enum class Belief : unsigned char { kNone, kShared, kExclusive };
using Beliefs = std::array<Belief, kBytes>;
Belief belief_of(fs::LockMode mode);
fs::LockMode mode_of(Belief belief);
// The runs of one mode.
std::vector<std::pair<Span, fs::LockMode>> runs(const Beliefs& beliefs);

class Arbiter {
 public:
  // A lock owner of a client.
  struct Holder {
    unsigned client = 0;
    unsigned owner = 0;
    friend auto operator<=>(const Holder&, const Holder&) = default;
  };
  // Of clients whose locks may be taken from them without a word: whether that is so now. They are
  // asked before they are believed, and it is over with their beliefs when they say yes.
  void may_lose(unsigned client, std::function<bool()> may) { may_lose_[client] = std::move(may); }

  void gains(std::size_t file, Holder holder, Span span, fs::LockMode mode);
  void drops(std::size_t file, Holder holder, Span span);
  // It asks for a shared lock in place of what it has.
  void weakens(std::size_t file, Holder holder, Span span);
  void drops_all(unsigned client);
  const Beliefs& beliefs(std::size_t file, Holder holder) const;
  // All of one client, on files in order.
  std::map<std::pair<std::size_t, Holder>, Beliefs> of_client(unsigned client) const;
  bool holds_any(std::size_t file, Holder holder, Span span) const;
  std::size_t grants() const { return grants_; }

 private:
  std::map<std::pair<std::size_t, Holder>, Beliefs> all_;
  std::map<unsigned, std::function<bool()>> may_lose_;
  std::size_t grants_ = 0;
};

}  // namespace symnas::sim
