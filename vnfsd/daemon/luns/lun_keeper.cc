#include "vnfsd/daemon/luns/lun_keeper.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cvm/volume.h"
#include "vnfsd/daemon/luns/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// Of its LUNs, as text.
std::set<std::string> uuids_of(const ClusterView& view) {
  std::set<std::string> uuids;
  for (const auto& [name, lun] : view.luns) {
    if (const auto uuid = cvm::uuid_from_bytes(lun.record.uuid())) uuids.insert(uuid->to_string());
  }
  return uuids;
}

}  // namespace

LunKeeper::LunKeeper(const ThisHead& head, ReservationCalls calls,
                     const std::function<void()>& changed)
    : head_(head),
      luns_(head.config.cluster_uuid),
      canaries_(changed),
      registrations_(head, std::move(calls), luns_, changed) {}

void LunKeeper::follow_registrations(const ClusterView& view) {
  registrations_.follow(view, candidates(view));
}

void LunKeeper::look(const ClusterView& view, const std::function<void()>& found) {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  const MutexLock scanning(scan_mutex_);
  if (luns_.complete(view)) return;
  std::string version = lun_set_version(view);
  if (const Reservations* reservations = registrations_.reservations()) {
    // A head that is not registered reads no label.
    const std::uint64_t times = reservations->registered_times();
    if (times == 0) return;
    version += fmt::to_string(times);
  }
  if (version == scanned_version_ && now_ms - scanned_at_ms_ < kRescanMs) return;
  scanned_version_ = version;
  scanned_at_ms_ = now_ms;
  if (!luns_.scan(view, candidates(view))) return;
  found();
}

void LunKeeper::try_luns(const ClusterView& view) {
  canaries_.follow(luns_.paths(), uuids_of(view));
}

std::vector<std::string> LunKeeper::candidates(const ClusterView& view) const {
  std::vector<std::string> paths = head_.config.daemon.lun_paths;
  for (const auto& [name, head] : view.heads) {
    for (const std::string& path : head.record.lun_paths()) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
        paths.push_back(path);
      }
    }
  }
  return paths;
}

std::string lun_set_version(const ClusterView& view) {
  std::string version;
  for (const auto& [name, lun] : view.luns) version += lun.record.uuid();
  for (const auto& [name, head] : view.heads) {
    for (const std::string& path : head.record.lun_paths()) version += path + '\n';
  }
  return version;
}

}  // namespace symnas::vnfsd::daemon
