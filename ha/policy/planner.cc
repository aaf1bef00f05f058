#include "ha/policy/planner.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace symnas::ha {
namespace {

class Planner {
 public:
  explicit Planner(const Facts& facts) : facts_(facts) {}

  std::map<std::string, Place> run() {
    // What has a place already counts before anything is given a new one.
    std::vector<std::string> homeless;
    for (const auto& [name, vnfs] : facts_.vnfses) {
      if (const auto place = settled(vnfs)) {
        take(name, *place);
      } else {
        homeless.push_back(name);
      }
    }
    share_ = share();
    for (const std::string& name : homeless) take(name, find_home(facts_.vnfses.at(name)));
    return std::move(places_);
  }

 private:
  HeadState state_of(const std::string& head) const {
    const auto it = facts_.heads.find(head);
    return it == facts_.heads.end() ? HeadState::kLost : it->second;
  }

  std::optional<Place> settled(const VnfsFacts& vnfs) const {
    if (vnfs.stopped) return Place{"", Reason::kStopped};
    if (!vnfs.target.empty() && state_of(vnfs.target) == HeadState::kServing) {
      return Place{vnfs.target, Reason::kOrdered};
    }
    if (vnfs.owner.empty()) return std::nullopt;
    if (state_of(vnfs.owner) == HeadState::kServing) return Place{vnfs.owner, Reason::kStays};
    if (state_of(vnfs.owner) == HeadState::kLost) return Place{vnfs.owner, Reason::kHeld};
    return std::nullopt;
  }

  Place find_home(const VnfsFacts& vnfs) const {
    std::vector<std::string> able;
    std::vector<std::string> blind;
    for (const std::string& head : vnfs.heads) {
      if (state_of(head) != HeadState::kServing) continue;
      (vnfs.blind.contains(head) ? blind : able).push_back(head);
    }
    if (able.empty() && vnfs.owner.empty()) able = blind;
    if (able.empty()) {
      // A drained head goes on rather than nobody.
      return vnfs.owner.empty() ? Place{"", Reason::kNowhere} : Place{vnfs.owner, Reason::kStays};
    }
    auto chosen = std::find_if(able.begin(), able.end(),
                               [&](const std::string& head) { return load(head) < share_; });
    if (chosen == able.end()) {
      chosen = std::min_element(able.begin(), able.end(),
                                [&](const auto& a, const auto& b) { return load(a) < load(b); });
    }
    if (!vnfs.owner.empty()) return {*chosen, Reason::kDrained};
    return {*chosen, chosen == able.begin() ? Reason::kFirst : Reason::kBalanced};
  }

  std::size_t share() const {
    std::size_t serving = 0;
    for (const auto& [name, state] : facts_.heads) serving += state == HeadState::kServing ? 1 : 0;
    std::size_t wanted = 0;
    for (const auto& [name, vnfs] : facts_.vnfses) wanted += vnfs.stopped ? 0 : 1;
    return serving == 0 ? wanted : (wanted + serving - 1) / serving;
  }

  std::size_t load(const std::string& head) const {
    const auto it = loads_.find(head);
    return it == loads_.end() ? 0 : it->second;
  }

  void take(const std::string& vnfs, Place place) {
    if (!place.head.empty()) ++loads_[place.head];
    places_.emplace(vnfs, std::move(place));
  }

  const Facts& facts_;
  std::size_t share_ = 0;
  std::map<std::string, std::size_t> loads_;
  std::map<std::string, Place> places_;
};

}  // namespace

std::map<std::string, Place> plan(const Facts& facts) { return Planner(facts).run(); }

const char* name_of(Reason reason) {
  switch (reason) {
    case Reason::kStopped: return "stopped";
    case Reason::kOrdered: return "ordered";
    case Reason::kStays: return "stays";
    case Reason::kHeld: return "held";
    case Reason::kFirst: return "first";
    case Reason::kBalanced: return "balanced";
    case Reason::kDrained: return "drained";
    case Reason::kNowhere: return "nowhere";
  }
  return "?";
}

}  // namespace symnas::ha
