#include "tests/sim/moves/arbiter.h"

#include <algorithm>

#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

std::string text_of(fs::ShareMode mode) {
  constexpr const char* kBits[] = {"-", "r", "w", "rw"};
  return std::string(kBits[mode.access & 3U]) + " denying " + kBits[mode.deny & 3U];
}

fs::LockRange range_of(Span span, fs::LockMode mode) {
  return {span.first, span.last + 1 == kBytes ? UINT64_MAX : span.last, mode};
}

Span draw_span() {
  const std::size_t one = below(kBytes);
  const std::size_t other = below(3) == 0 ? one : below(kBytes);
  return {std::min(one, other), std::max(one, other)};
}

Belief belief_of(fs::LockMode mode) {
  return mode == fs::LockMode::kExclusive ? Belief::kExclusive : Belief::kShared;
}

fs::LockMode mode_of(Belief belief) {
  return belief == Belief::kExclusive ? fs::LockMode::kExclusive : fs::LockMode::kShared;
}

std::vector<std::pair<Span, fs::LockMode>> runs(const Beliefs& beliefs) {
  std::vector<std::pair<Span, fs::LockMode>> out;
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    if (beliefs[byte] == Belief::kNone) continue;
    const bool goes_on = byte > 0 && beliefs[byte - 1] == beliefs[byte];
    if (goes_on) {
      out.back().first.last = byte;
    } else {
      out.push_back({{byte, byte}, mode_of(beliefs[byte])});
    }
  }
  return out;
}

bool Arbiter::may_have_lost(Holder holder) const {
  const auto may = may_lose_.find(holder.client);
  return may != may_lose_.end() && may->second();
}

void Arbiter::take_from(const std::set<unsigned>& clients) {
  for (const unsigned client : clients) drops_all(client);
  robbed_.insert(clients.begin(), clients.end());
}

void Arbiter::gains(std::size_t file, Holder holder, Span span, fs::LockMode mode) {
  std::set<unsigned> gone;
  for (const auto& [key, beliefs] : all_) {
    if (key.first != file || key.second == holder) continue;
    for (std::size_t byte = span.first; byte <= span.last; ++byte) {
      const bool conflicts = beliefs[byte] == Belief::kExclusive ||
                             (beliefs[byte] == Belief::kShared && mode == fs::LockMode::kExclusive);
      if (!conflicts) continue;
      if (may_have_lost(key.second)) {
        gone.insert(key.second.client);
        break;
      }
      fail("stolen: byte " + std::to_string(byte) + " of file " + std::to_string(file) +
           " is granted to owner " + std::to_string(holder.owner) + " of client " +
           std::to_string(holder.client) + ", and owner " + std::to_string(key.second.owner) +
           " of client " + std::to_string(key.second.client) + " holds it");
    }
  }
  take_from(gone);
  Beliefs& mine = all_[{file, holder}];
  for (std::size_t byte = span.first; byte <= span.last; ++byte) mine[byte] = belief_of(mode);
  trace("client %u owner %u holds file %zu bytes %zu-%zu %s", holder.client, holder.owner, file,
        span.first, span.last, mode == fs::LockMode::kExclusive ? "X" : "S");
}

void Arbiter::drops(std::size_t file, Holder holder, Span span) {
  const auto found = all_.find({file, holder});
  if (found == all_.end()) return;
  for (std::size_t byte = span.first; byte <= span.last; ++byte)
    found->second[byte] = Belief::kNone;
}

void Arbiter::weakens(std::size_t file, Holder holder, Span span) {
  const auto found = all_.find({file, holder});
  if (found == all_.end()) return;
  for (std::size_t byte = span.first; byte <= span.last; ++byte) {
    if (found->second[byte] == Belief::kExclusive) found->second[byte] = Belief::kShared;
  }
}

void Arbiter::drops_all(unsigned client) {
  const auto its = [client](const auto& one) { return one.first.second.client == client; };
  std::erase_if(all_, its);
  std::erase_if(opens_, its);
}

const Beliefs& Arbiter::beliefs(std::size_t file, Holder holder) const {
  static const Beliefs kNothing{};
  const auto found = all_.find({file, holder});
  return found == all_.end() ? kNothing : found->second;
}

std::map<std::pair<std::size_t, Arbiter::Holder>, Beliefs> Arbiter::of_client(
    unsigned client) const {
  std::map<std::pair<std::size_t, Holder>, Beliefs> out;
  for (const auto& one : all_)
    if (one.first.second.client == client) out.insert(one);
  return out;
}

bool Arbiter::holds_any(std::size_t file, Holder holder, Span span) const {
  const Beliefs& mine = beliefs(file, holder);
  return std::any_of(mine.begin() + static_cast<std::ptrdiff_t>(span.first),
                     mine.begin() + static_cast<std::ptrdiff_t>(span.last) + 1,
                     [](Belief belief) { return belief != Belief::kNone; });
}

bool Arbiter::is_free(std::size_t file, std::size_t byte) const {
  return std::none_of(all_.begin(), all_.end(), [&](const auto& one) {
    return one.first.first == file && one.second[byte] != Belief::kNone;
  });
}

// --- opens

void Arbiter::opens(std::size_t file, Holder opener, fs::ShareMode mode) {
  std::set<unsigned> gone;
  for (const auto& [key, open] : opens_) {
    if (key.first != file || key.second == opener || !fs::conflict(open, mode)) continue;
    if (may_have_lost(key.second)) {
      gone.insert(key.second.client);
      continue;
    }
    fail("stolen: file " + std::to_string(file) + " is opened by owner " +
         std::to_string(opener.owner) + " of client " + std::to_string(opener.client) + " to " +
         text_of(mode) + ", and is open for owner " + std::to_string(key.second.owner) +
         " of client " + std::to_string(key.second.client) + " to " + text_of(open));
  }
  take_from(gone);
  opens_[{file, opener}] = mode;
  trace("client %u owner %u has file %zu open to %s", opener.client, opener.owner, file,
        text_of(mode).c_str());
}

void Arbiter::opens_less(std::size_t file, Holder opener, fs::ShareMode mode) {
  const auto found = opens_.find({file, opener});
  if (found == opens_.end()) return;
  if (mode == fs::ShareMode{}) {
    opens_.erase(found);
  } else {
    found->second = mode;
  }
}

fs::ShareMode Arbiter::open_of(std::size_t file, Holder opener) const {
  const auto found = opens_.find({file, opener});
  return found == opens_.end() ? fs::ShareMode{} : found->second;
}

Arbiter::Opens Arbiter::opens_of_client(unsigned client) const {
  Opens out;
  for (const auto& one : opens_)
    if (one.first.second.client == client) out.insert(one);
  return out;
}

fs::ShareMode Arbiter::all_opens(std::size_t file) const {
  fs::ShareMode out;
  for (const auto& [key, mode] : opens_)
    if (key.first == file) out = out | mode;
  return out;
}

}  // namespace symnas::sim
