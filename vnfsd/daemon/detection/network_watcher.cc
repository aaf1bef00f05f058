#include "vnfsd/daemon/detection/network_watcher.h"

#include <utility>

#include "common/base/log.h"
#include "vnfsd/daemon/health/limits.h"

namespace symnas::vnfsd::daemon {

NetworkWatcher::NetworkWatcher(const ThisHead& head, Devices devices, std::function<void()> changed)
    : head_(head), devices_(std::move(devices)), changed_(std::move(changed)) {}

void NetworkWatcher::follow(std::shared_ptr<const Neighbours> neighbours) {
  const MutexLock lock(mutex_);
  const auto said = neighbours->ill_there.find(head_.config.head_name);
  if (!neighbours_ && said != neighbours->ill_there.end()) {
    for (const std::string& name : said->second)
      ill_[name] = "it was reached badly before this vnfsd was started";
  }
  neighbours_ = std::move(neighbours);
}

void NetworkWatcher::look(const std::vector<ha::PeerSight>& sights) {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  if (now_ms - looked_ms_ < kTryMs) return;
  looked_ms_ = now_ms;
  NetworkView view;
  std::set<std::string> remembered;
  {
    const MutexLock lock(mutex_);
    if (!neighbours_) return;
    view.networks = neighbours_->devices_by_network;
    view.peers = neighbours_->addresses_by_head;
    view.ill_there = neighbours_->ill_there;
    for (const auto& [name, why] : ill_) remembered.insert(name);
  }
  if (!std::exchange(looked_at_, true)) health_.remember(now_ms, remembered);
  view.devices = devices_();
  if (view.devices.empty()) return;  // the kernel did not say: there is always `lo`
  view.sights = sights;
  const std::map<std::string, std::string> before = health_.ill();
  if (!health_.look(now_ms, view)) return;
  for (const auto& [name, why] : health_.ill()) {
    if (!before.contains(name)) log::warn("network {}: {}", name, why);
  }
  for (const auto& [name, why] : before) {
    if (!health_.ill().contains(name)) log::info("network {}: is well again", name);
  }
  {
    const MutexLock lock(mutex_);
    ill_ = health_.ill();
    worse_ = health_.worse();
  }
  changed_();
}

std::map<std::string, std::string> NetworkWatcher::devices() const {
  const MutexLock lock(mutex_);
  return neighbours_ ? neighbours_->devices_by_network : std::map<std::string, std::string>();
}

std::map<std::string, std::string> NetworkWatcher::ill() const {
  const MutexLock lock(mutex_);
  return ill_;
}

std::set<std::string> NetworkWatcher::worse() const {
  const MutexLock lock(mutex_);
  return worse_;
}

}  // namespace symnas::vnfsd::daemon
