#include "tests/sim/moves/arbiter.h"

#include <algorithm>
#include <set>

#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

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

void Arbiter::gains(std::size_t file, Holder holder, Span span, fs::LockMode mode) {
  ++grants_;
  std::set<unsigned> gone;
  for (const auto& [key, beliefs] : all_) {
    if (key.first != file || key.second == holder) continue;
    for (std::size_t byte = span.first; byte <= span.last; ++byte) {
      const bool conflicts = beliefs[byte] == Belief::kExclusive ||
                             (beliefs[byte] == Belief::kShared && mode == fs::LockMode::kExclusive);
      if (!conflicts) continue;
      const auto may = may_lose_.find(key.second.client);
      if (may != may_lose_.end() && may->second()) {
        gone.insert(key.second.client);
        break;
      }
      fail("stolen: byte " + std::to_string(byte) + " of file " + std::to_string(file) +
           " is granted to owner " + std::to_string(holder.owner) + " of client " +
           std::to_string(holder.client) + ", and owner " + std::to_string(key.second.owner) +
           " of client " + std::to_string(key.second.client) + " holds it");
    }
  }
  for (const unsigned client : gone) drops_all(client);
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
  std::erase_if(all_, [client](const auto& one) { return one.first.second.client == client; });
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

}  // namespace symnas::sim
