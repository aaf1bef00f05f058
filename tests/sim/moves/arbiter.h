// Arbiter: judges locks and opens from outside NFS. It knows what every client believes that it
// holds and has open: from the moment the client has read the answer until it asks for less, dies,
// or is told otherwise. Two beliefs that conflict end the run: one of the locks, or one of the
// opens, was stolen.
//
// A file has `kBytes` bytes; the last one stands for all bytes from there on.
// Thread class: for simulated threads. Never blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fsal_cluster/state/lock_table.h"
#include "fsal_cluster/types/share_mode.h"

namespace symnas::sim {

inline constexpr std::size_t kBytes = 6;

// Bytes first to last of a file.
struct Span {
  std::size_t first = 0;
  std::size_t last = 0;
};
fs::LockRange range_of(Span span, fs::LockMode mode);
// Any non-empty span.
Span draw_span();

enum class Belief : unsigned char { kNone, kShared, kExclusive };
using Beliefs = std::array<Belief, kBytes>;
Belief belief_of(fs::LockMode mode);
fs::LockMode mode_of(Belief belief);
// The longest runs of one mode.
std::vector<std::pair<Span, fs::LockMode>> runs(const Beliefs& beliefs);

std::string text_of(fs::ShareMode mode);

class Arbiter {
 public:
  // A lock owner of a client, or an open owner.
  struct Holder {
    unsigned client = 0;
    unsigned owner = 0;
    friend auto operator<=>(const Holder&, const Holder&) = default;
  };
  // For a client whose locks and opens may be taken without notice: `may` says whether that is so
  // now. It is called before a belief of the client counts; when it returns true, the client's
  // beliefs are dropped.
  void may_lose(unsigned client, std::function<bool()> may) { may_lose_[client] = std::move(may); }

  // Whether anything has been taken from the client.
  bool has_lost(unsigned client) const { return robbed_.contains(client); }

  void gains(std::size_t file, Holder holder, Span span, fs::LockMode mode);
  void drops(std::size_t file, Holder holder, Span span);
  // The holder asks for a shared lock in place of what it has.
  void weakens(std::size_t file, Holder holder, Span span);
  void drops_all(unsigned client);
  const Beliefs& beliefs(std::size_t file, Holder holder) const;
  // All beliefs of one client, ordered by file.
  std::map<std::pair<std::size_t, Holder>, Beliefs> of_client(unsigned client) const;
  bool holds_any(std::size_t file, Holder holder, Span span) const;
  // No client holds the byte.
  bool is_free(std::size_t file, std::size_t byte) const;

  // The opener now has the file open with this mode, whatever it was before.
  void opens(std::size_t file, Holder opener, fs::ShareMode mode);
  // The opener asks for less; {}: it closes the file.
  void opens_less(std::size_t file, Holder opener, fs::ShareMode mode);
  fs::ShareMode open_of(std::size_t file, Holder opener) const;
  using Opens = std::map<std::pair<std::size_t, Holder>, fs::ShareMode>;
  Opens opens_of_client(unsigned client) const;
  // The opens of all clients together.
  fs::ShareMode all_opens(std::size_t file) const;

 private:
  bool may_have_lost(Holder holder) const;
  void take_from(const std::set<unsigned>& clients);

  std::map<std::pair<std::size_t, Holder>, Beliefs> all_;
  Opens opens_;
  std::map<unsigned, std::function<bool()>> may_lose_;
  std::set<unsigned> robbed_;
};

}  // namespace symnas::sim
