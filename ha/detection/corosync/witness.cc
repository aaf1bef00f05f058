#include "ha/detection/corosync/witness.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace symnas::ha {
namespace {

std::string name_of(const CorosyncNode& node) {
  return fmt::format("node {}", node.name.empty() ? std::to_string(node.id) : node.name);
}

bool has_address(const CorosyncNode& node, const std::vector<std::string>& addresses) {
  return std::ranges::any_of(node.addresses, [&](const std::string& address) {
    return std::ranges::find(addresses, address) != addresses.end();
  });
}

}  // namespace

std::string_view to_string(CorosyncState state) {
  switch (state) {
    case CorosyncState::kMember: return "member";
    case CorosyncState::kLost: return "lost";
    case CorosyncState::kAbsent: return "absent";
  }
  return "absent";
}

bool CorosyncSight::has_lost(const std::string& head, std::int64_t since_ms) const {
  const auto found = heads.find(head);
  return error.empty() && quorate && found != heads.end() &&
         found->second.state == CorosyncState::kLost && found->second.lost_ms >= since_ms;
}

void CorosyncWitness::told(CorosyncMembership membership, std::int64_t now_ms) {
  std::map<std::uint32_t, std::int64_t> lost_ms;
  for (const CorosyncNode& node : membership.nodes) {
    if (node.member) continue;
    const auto known = lost_ms_.find(node.id);
    const bool was_member = std::ranges::any_of(now_.nodes, [&](const CorosyncNode& before) {
      return before.id == node.id && before.member;
    });
    if (was_member) {
      lost_ms[node.id] = now_ms;
    } else if (known != lost_ms_.end()) {
      lost_ms[node.id] = known->second;
    }
  }
  lost_ms_ = std::move(lost_ms);
  now_ = std::move(membership);
  told_ms_ = now_ms;
  error_.clear();
}

void CorosyncWitness::ended(std::string why) {
  now_ = {};
  lost_ms_.clear();
  error_ = std::move(why);
}

CorosyncSight CorosyncWitness::sight(const Heads& heads, std::int64_t now_ms) const {
  CorosyncSight out;
  out.error = error_;
  if (out.error.empty() && now_ms - told_ms_ > kCorosyncFreshMs) out.error = "does not answer";
  if (!out.error.empty()) return out;
  out.quorate = now_.quorate;
  std::map<std::string, const CorosyncNode*> nodes;  // by head
  for (const CorosyncNode& node : now_.nodes) {
    if (heads.contains(node.name)) nodes[node.name] = &node;
  }
  for (const CorosyncNode& node : now_.nodes) {
    if (heads.contains(node.name)) continue;
    const auto head =
        std::ranges::find_if(heads, [&](const auto& one) { return has_address(node, one.second); });
    if (head == heads.end() || !nodes.try_emplace(head->first, &node).second)
      out.strangers.push_back(name_of(node));
  }
  for (const auto& [head, addresses] : heads) {
    const auto found = nodes.find(head);
    if (found == nodes.end()) {
      out.no_node.push_back(head);
      continue;
    }
    CorosyncSight::Head& said = out.heads[head];
    const auto lost = lost_ms_.find(found->second->id);
    if (found->second->member) {
      said.state = CorosyncState::kMember;
    } else if (lost != lost_ms_.end()) {
      said = {CorosyncState::kLost, lost->second};
    }
  }
  return out;
}

}  // namespace symnas::ha
