#include "vnfsd/daemon/instances/instance_set.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/process.h"
#include "vnfsd/instance/state_file.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/wanted.h"

namespace symnas::vnfsd::daemon {

using instance::Supervisor;

std::unique_ptr<Supervisor> InstanceSet::supervise(const std::string& vnfs, Wanted wanted) const {
  return std::make_unique<Supervisor>(vnfs, instance::paths_for(head_.config, vnfs),
                                      head_.incarnation, host_, instance::cluster_fsal(),
                                      head_.clock, wanted);
}

void InstanceSet::follow(const ClusterView& view, const std::set<std::string>& coming_here) {
  std::vector<std::unique_ptr<Supervisor>> gone;
  {
    const MutexLock lock(mutex_);
    for (auto it = supervisors_.begin(); it != supervisors_.end();) {
      if (view.vnfses.contains(it->first)) {
        ++it;
        continue;
      }
      gone.push_back(std::move(it->second));
      instance::remove_tree(instance::paths_for(head_.config, it->first).directory);
      it = supervisors_.erase(it);
    }
    // The instances that a fenced head has left end themselves, and their status goes on to say why
    // they are refused.
    const std::string& self = head_.config.head_name;
    const bool lost = is_lost(view, self);
    const std::map<std::string, Wanted> all = wanted_on(view, self, coming_here);
    for (const auto& [name, stored] : view.vnfses) {
      const auto wanted = all.find(name);
      if (wanted == all.end()) {
        leave(name, stored.record, lost, gone);
        continue;
      }
      auto& supervisor = supervisors_[name];
      const records::VnfsRecord& record = stored.record;
      const auto owner = view.owners.find(name);
      const bool owned_here = owner != view.owners.end() && owner->second.record.head() == self;
      const std::uint64_t killed = record.killed_epoch();
      if (supervisor) {
        supervisor->set_wanted(wanted->second);
        if (owned_here && exports_pending(view, name)) supervisor->refresh();
        if (owned_here && killed == owner->second.record.epoch())
          supervisor->end_instance(Epoch(killed), "an administrator has ordered it (symnas drill)");
        if (owned_here && record.restarted_epoch() == owner->second.record.epoch())
          supervisor->restart_instance(Epoch(record.restarted_epoch()));
      } else {
        supervisor = supervise(name, wanted->second);
      }
    }
  }
  gone.clear();  // joins their threads, which may need mutex_
}

// Nothing of the VNFS is wanted here.
void InstanceSet::leave(const std::string& name, const records::VnfsRecord& record, bool lost,
                        std::vector<std::unique_ptr<Supervisor>>& gone) {
  const auto known = supervisors_.find(name);
  // An earlier agent of a boot that was fenced since: it may hang, with its VIPs up.
  if (known == supervisors_.end() && lost && was_left_here(name))
    supervisors_[name] = supervise(name, Wanted::kStopped);
  // It may not be called any more.
  if (known != supervisors_.end() && lost &&
      known->second->snapshot().phase == instance::Phase::kPrepared)
    known->second->set_wanted(Wanted::kStopped);
  if (known == supervisors_.end() || lost) return;
  known->second->set_wanted(Wanted::kStopped);
  // A VNFS that this head has given up, or did not get, is another head's.
  if (!record.stopped() && known->second->snapshot().phase == instance::Phase::kStopped) {
    gone.push_back(std::move(known->second));
    supervisors_.erase(known);
  }
}

void InstanceSet::stop_all() {
  const MutexLock lock(mutex_);
  for (const auto& [name, supervisor] : supervisors_) supervisor->set_wanted(Wanted::kStopped);
}

void InstanceSet::refresh() {
  const MutexLock lock(mutex_);
  for (const auto& [name, supervisor] : supervisors_) supervisor->refresh();
}

bool InstanceSet::is_refreshed() const {
  const MutexLock lock(mutex_);
  return std::ranges::all_of(supervisors_, [](const auto& one) { return one.second->refreshed(); });
}

void InstanceSet::end_standbys() const {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(head_.config.daemon.run_dir + "/vnfs", error)) {
    const std::string vnfs = entry.path().filename().string();
    const auto text = instance::read_file(instance::paths_for(head_.config, vnfs).state_file);
    const auto state = text ? instance::parse_state(*text) : tl::unexpected<Error>(text.error());
    if (!state || !state->standby || state->incarnation != head_.incarnation) continue;
    const auto process = instance::Process::adopt(state->process);
    if (!process) continue;
    process->kill();
    process->wait(instance::kKillTimeoutMs);
    log::info("vnfs {}: standby pid {} of an earlier agent: ended", vnfs, state->process.pid);
  }
}

void InstanceSet::clear() {
  std::map<std::string, std::unique_ptr<Supervisor>> gone;
  {
    const MutexLock lock(mutex_);
    gone.swap(supervisors_);
  }
}

std::map<std::string, instance::InstanceSnapshot> InstanceSet::snapshots() const {
  std::map<std::string, instance::InstanceSnapshot> out;
  const MutexLock lock(mutex_);
  for (const auto& [vnfs, supervisor] : supervisors_) out[vnfs] = supervisor->snapshot();
  return out;
}

void InstanceSet::end_instance(const std::string& vnfs, Epoch epoch, const std::string& why) {
  const MutexLock lock(mutex_);
  const auto supervisor = supervisors_.find(vnfs);
  if (supervisor != supervisors_.end()) supervisor->second->end_instance(epoch, why);
}

bool InstanceSet::was_left_here(const std::string& vnfs) const {
  const auto text = instance::read_file(instance::paths_for(head_.config, vnfs).state_file);
  const auto state = text ? instance::parse_state(*text) : tl::unexpected<Error>(text.error());
  return state && state->incarnation == head_.incarnation;
}

}  // namespace symnas::vnfsd::daemon
