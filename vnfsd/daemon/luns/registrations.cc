#include "vnfsd/daemon/luns/registrations.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

LunNames identified_luns(const ClusterView& view) {
  LunNames luns;
  for (const auto& [name, lun] : view.luns) {
    if (!lun.record.identification().empty()) luns[lun.record.identification()] = name;
  }
  return luns;
}

Registrations::Registrations(const ThisHead& head, ReservationCalls calls, const LunSet& luns,
                             std::function<void()> changed)
    : head_(head), calls_(std::move(calls)), luns_(luns) {
  if (head_.config.fence.persistent_reservations && calls_) {
    reservations_ = std::make_unique<Reservations>(
        calls_, head_.config.head_name + "/" + head_.incarnation, std::move(changed));
  }
}

void Registrations::follow(const ClusterView& view, std::vector<std::string> candidates) {
  if (!reservations_) return;
  const auto self = view.heads.find(head_.config.head_name);
  if (self == view.heads.end() || self->second.record.incarnation() != head_.incarnation) return;
  const auto fence = view.fences.find(head_.config.head_name);
  if (fence != view.fences.end() && forbids_claims(fence->second.record, head_.incarnation)) return;
  reservations_->follow(identified_luns(view), std::move(candidates));
}

Status Registrations::check(const ClusterView& view, const std::string& vnfs) const {
  if (!reservations_) return {};
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  LunNames used;
  for (const std::string& volume : volumes_of_vnfs(view, stored->record)) {
    for (const auto* lun : luns_of_volume(view, volume)) {
      if (!lun->identification().empty()) used[lun->identification()] = lun->name();
    }
  }
  Status registered = reservations_->check(used);
  for (const instance::LunPath& lun : luns_.paths()) {
    const auto found = std::ranges::find(used, lun.name, &LunNames::value_type::second);
    if (registered && found != used.end())
      registered = reservations_->check_device(found->first, lun.name, lun.path);
  }
  if (registered) return {};
  return fail(registered.error().code,
              fmt::format("vnfs {}: not started: {}", vnfs, registered.error().message));
}

bool Registrations::is_registered_on(const ClusterView& view, const std::string& lun,
                                     const std::string& device) const {
  const auto found = view.luns.find(lun);
  if (!reservations_ || found == view.luns.end() || found->second.record.identification().empty())
    return true;
  const std::string& identification = found->second.record.identification();
  return reservations_->check({{identification, lun}}).has_value() &&
         reservations_->check_device(identification, lun, device).has_value();
}

Result<std::string> Registrations::identification_of(const std::string& name,
                                                     const std::string& path) {
  if (!calls_) return std::string();
  const auto node = cvm::canonical_lun_node(path);
  if (!node) return std::string();  // its import says why
  const auto found = calls_.identify({node->path});
  if (found && found->contains(node->path)) {
    // One LUN that cannot would keep every head from registering on it.
    const Status able = reservations_ ? calls_.check_capable(node->path) : Status();
    if (able) return found->at(node->path);
    return fail(ErrorCode::kNotSupported,
                fmt::format("lun {}: no head could be cut off from it: {} (persistent_reservations "
                            "in vnfsd.toml asks for that)",
                            name, able.error().message));
  }
  if (!reservations_) return std::string();
  return fail(ErrorCode::kNotSupported,
              fmt::format("lun {}: {} answers no persistent reservations, so no head could be cut "
                          "off from it: {} (persistent_reservations in vnfsd.toml asks for them)",
                          name, path, found ? "it has no identification" : found.error().message));
}

}  // namespace symnas::vnfsd::daemon
