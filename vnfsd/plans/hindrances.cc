#include "vnfsd/plans/hindrances.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

using Kind = Hindrance::Kind;
using Hindrances = std::vector<Hindrance>;
using Names = google::protobuf::RepeatedPtrField<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The LUNs of the VNFS that the head has not open, by name.
std::vector<std::string> missing_luns(const ClusterView& view, const records::VnfsRecord& vnfs,
                                      const records::HeadRecord& head) {
  std::vector<std::string> missing;
  for (const std::string& volume : volumes_of_vnfs(view, vnfs)) {
    for (const auto* lun : luns_of_volume(view, volume)) {
      if (!has(head.luns(), lun->uuid())) missing.push_back(lun->name());
    }
  }
  return missing;
}

// The networks of the VNFS that the head reaches badly.
std::set<std::string> ill_networks(const records::VnfsRecord& vnfs,
                                   const records::HeadRecord& head) {
  std::set<std::string> ill;
  for (const records::Vip& vip : vnfs.vips()) {
    if (has(head.ill_networks(), vip.network())) ill.insert(vip.network());
  }
  return ill;
}

Hindrance not_its_head(const records::VnfsRecord& vnfs, const std::string& head) {
  return {Kind::kNotItsHead,
          fmt::format("it is not one of its heads, {}", fmt::join(vnfs.heads(), ", ")),
          fmt::format("symnas vnfs set {} --heads {},{}", vnfs.name(), fmt::join(vnfs.heads(), ","),
                      head)};
}

Hindrance no_head(const ClusterView& view, const std::string& head) {
  return {Kind::kNoHead,
          view.removed.contains(head) ? "it was removed from the cluster"
                                      : "it is no head of the cluster",
          fmt::format("symnas head invite {} lets it join", head)};
}

// The hindrances of a lost head alone: it has no boot that serves anything.
Hindrances of_lost_head(const ClusterView& view, const records::HeadRecord& head) {
  if (head.incarnation().empty())
    return {{Kind::kNeverStarted, "it has never been started", "systemctl start vnfsd there"}};
  if (is_fenced(view, head))
    return {{Kind::kFenced, "it is fenced", "its next boot serves again: symnas status"}};
  return {};
}

Hindrances of_living_head(const ClusterView& view, const records::VnfsRecord& vnfs,
                          const records::HeadRecord& head) {
  Hindrances found;
  if (head.draining()) {
    found.push_back({Kind::kDraining, "it is being drained",
                     fmt::format("symnas head undrain {}", head.name())});
  }
  if (const std::set<std::string> ill = ill_networks(vnfs, head); !ill.empty()) {
    found.push_back({Kind::kNetworks, fmt::format("it reaches badly: {}", fmt::join(ill, ", ")),
                     "symnas status there says why"});
  }
  if (const auto missing = missing_luns(view, vnfs, head); !missing.empty()) {
    found.push_back({Kind::kLuns, fmt::format("it has not open: {}", fmt::join(missing, ", ")),
                     "symnas status there says why"});
  }
  return found;
}

}  // namespace

std::string line_of(const Hindrance& hindrance) {
  return fmt::format("{} ({})", hindrance.why, hindrance.next);
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kNoHead: return "no_head";
    case Kind::kNotItsHead: return "not_its_head";
    case Kind::kNeverStarted: return "never_started";
    case Kind::kFenced: return "fenced";
    case Kind::kDraining: return "draining";
    case Kind::kNetworks: return "networks";
    case Kind::kLuns: return "luns";
    case Kind::kJustStarted: return "just_started";
    case Kind::kRefused: return "refused";
    case Kind::kStopped: return "stopped";
    case Kind::kMoving: return "moving";
    case Kind::kHeld: return "held";
  }
  return "?";
}

bool keeps_only_owners(Kind kind) { return kind == Kind::kJustStarted || kind == Kind::kRefused; }

std::vector<Hindrance> hindrances(const ClusterView& view, const records::VnfsRecord& vnfs,
                                  const std::string& head) {
  Hindrances found;
  if (!has(vnfs.heads(), head)) found.push_back(not_its_head(vnfs, head));
  const auto known = view.heads.find(head);
  if (known == view.heads.end()) {
    found.push_back(no_head(view, head));
    return found;
  }
  Hindrances more = of_lost_head(view, known->second.record);
  // The word of a lost boot about LUNs and networks counts for nothing.
  if (more.empty()) more = of_living_head(view, vnfs, known->second.record);
  std::ranges::move(more, std::back_inserter(found));
  return found;
}

std::vector<Hindrance> own_hindrances(const ClusterView& view, const records::VnfsRecord& vnfs,
                                      const std::string& head, std::int64_t now_ns) {
  Hindrances found = hindrances(view, vnfs, head);
  const auto known = view.heads.find(head);
  if (known == view.heads.end() || !of_lost_head(view, known->second.record).empty()) return found;
  if (!known->second.record.luns_known()) {
    found.push_back({Kind::kJustStarted, "it has just started, and has not said what it reaches",
                     "again in some seconds, or symnas status there"});
  }
  for (const records::Refusal& refusal : recent_refusals(view, vnfs.name(), now_ns)) {
    if (refusal.head() != head) continue;
    found.push_back(
        {Kind::kRefused, fmt::format("it did not take it: {}", refusal.why()),
         fmt::format("symnas vnfs rehost {} {} asks it again at once", vnfs.name(), head)});
  }
  return found;
}

std::vector<Hindrance> hindrances_to_move(const ClusterView& view, const records::VnfsRecord& vnfs,
                                          std::int64_t now_ns) {
  Hindrances found;
  if (vnfs.stopped()) {
    found.push_back(
        {Kind::kStopped, "it is stopped", fmt::format("symnas vnfs start {}", vnfs.name())});
  }
  const auto owner = view.owners.find(vnfs.name());
  const auto move = view.moves.find(vnfs.name());
  if (owner == view.owners.end() || move == view.moves.end()) return found;
  // One whose head cannot finish it, or does not begin, may be replaced.
  const records::MoveRecord& order = move->second.record;
  const bool by_decider = view.cluster.record.decider() != records::DECIDER_BUILTIN;
  const bool over = !was_answered(view, order) &&
                    std::abs(now_ns - order.ordered_ns()) > (by_decider ? kDecidedNs : kOrderNs);
  if (!over && owner->second.record.head() != order.to()) {
    found.push_back({Kind::kMoving, fmt::format("it is being moved to {}", order.to()),
                     "wait: symnas vnfs status"});
  }
  return found;
}

bool reaches_all_of(const ClusterView& view, const std::string& vnfs, const std::string& head) {
  const records::HeadRecord& record = view.heads.at(head).record;
  const records::VnfsRecord& served = view.vnfses.at(vnfs).record;
  if (!ill_networks(served, record).empty()) return false;
  // Just started: it has not said yet what it sees.
  return !record.luns_known() || missing_luns(view, served, record).empty();
}

std::vector<records::Refusal> recent_refusals(const ClusterView& view, const std::string& vnfs,
                                              std::int64_t now_ns) {
  std::vector<records::Refusal> recent;
  const auto stored = view.refusals.find(vnfs);
  if (stored == view.refusals.end()) return recent;
  for (const records::Refusal& refusal : stored->second.record.refusals()) {
    const auto head = view.heads.find(refusal.head());
    if (head == view.heads.end() || std::abs(now_ns - refusal.at_ns()) >= kRefusalNs ||
        head->second.record.incarnation() != refusal.incarnation()) {
      continue;
    }
    recent.push_back(refusal);
  }
  return recent;
}

}  // namespace symnas::vnfsd
