#include "vnfsd/daemon/detection/corosync_voice.h"

#include <utility>

#include <fmt/core.h>

namespace symnas::vnfsd::daemon {

CorosyncVoice::CorosyncVoice(const ThisHead& head, const ha::CorosyncSights* source)
    : head_(head), source_(source) {}

void CorosyncVoice::follow(const Neighbours& neighbours) {
  if (source_ == nullptr) return;
  ha::CorosyncWitness::Heads heads;
  const auto add = [&heads](const std::string& name, const std::vector<IpAddress>& addresses) {
    for (const IpAddress& address : addresses) heads[name].push_back(address.to_string());
  };
  for (const auto& [name, addresses] : neighbours.addresses_by_head) add(name, addresses);
  auto& own = heads[head_.config.head_name] = head_.config.probe_addresses;
  own.push_back(head_.config.head_address);
  const MutexLock lock(mutex_);
  heads_ = std::move(heads);
}

std::optional<ha::CorosyncSight> CorosyncVoice::sight() const {
  if (source_ == nullptr) return std::nullopt;
  ha::CorosyncWitness::Heads heads;
  {
    const MutexLock lock(mutex_);
    heads = heads_;
  }
  return source_->sight(heads);
}

bool CorosyncVoice::has_lost(const ha::PeerSight& sight) const {
  const auto said = this->sight();
  return said && said->has_lost(sight.head, head_.clock.mono_ns() / 1'000'000 - sight.silent_ms);
}

std::string CorosyncVoice::says_of(const std::string& head) const {
  const auto said = sight();
  if (!said) return "";
  if (!said->error.empty()) return fmt::format(" (corosync: {})", said->error);
  const auto found = said->heads.find(head);
  if (found == said->heads.end()) return " (corosync has no such node)";
  switch (found->second.state) {
    case ha::CorosyncState::kMember: return " (corosync still has it)";
    case ha::CorosyncState::kLost: return " (corosync has lost it)";
    case ha::CorosyncState::kAbsent: break;
  }
  return " (corosync has not seen it)";
}

}  // namespace symnas::vnfsd::daemon
