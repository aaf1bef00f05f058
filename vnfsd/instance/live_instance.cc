#include "vnfsd/instance/live_instance.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/retire.h"

namespace symnas::vnfsd::instance {

LiveInstance::Left LiveInstance::adopt(const std::string& incarnation) {
  const auto text = read_file(paths_.state_file);
  if (!text) return Left::kNothing;
  const auto state = parse_state(*text);
  if (!state) {
    log::error("vnfs {}: {}: {} (its instance is looked for by its locks instead)", vnfs_,
               paths_.state_file, state.error().message);
    return Left::kNothing;
  }
  state_ = *state;
  if (state_.incarnation != incarnation) return Left::kNothing;  // the head was rebooted
  auto process = Process::adopt(state_.process);
  if (!process) return Left::kNothing;
  take(std::move(*process));
  if (state_.standby || stands_by(paths_.control).value_or(false)) return Left::kStandby;
  log::info("vnfs {}: adopted {}", vnfs_, name());
  return state_.retiring ? Left::kRetiring : Left::kInstance;
}

Status LiveInstance::launch(const InstancePlan& plan) {
  SYMNAS_ASSIGN(Process process, instance::launch(plan, [&](const Process& created) {
                  state_ = {created.id(),     plan.epoch, plan.incarnation, plan.owner_mod_revision,
                            clock_.wall_ns(), {}};
                  state_.standby = plan.standby;
                  add_luns(plan);
                  return record();
                }));
  take(std::move(process));
  return {};
}

Status LiveInstance::becomes_owner(const InstancePlan& plan) {
  state_.standby = false;
  state_.owner_mod_revision = plan.owner_mod_revision;
  add_luns(plan);
  return record();
}

void LiveInstance::note_retiring() {
  state_.retiring = true;
  if (const Status noted = record(); !noted)
    log::error("vnfs {}: {}", vnfs_, noted.error().message);
}

void LiveInstance::note_connections(const std::vector<std::string>& connections) {
  state_.connections = connections;
  if (const Status noted = record(); !noted)
    log::error("vnfs {}: {}", vnfs_, noted.error().message);
}

Status LiveInstance::remember_luns(const InstancePlan& plan) {
  return add_luns(plan) ? record() : Status();
}

std::string LiveInstance::name() const {
  return fmt::format("pid {}, epoch {}", state_.process.pid, state_.epoch.value());
}

void LiveInstance::lose() {
  process_.reset();
  state_.standby = false;
  state_.retiring = false;
  if (!netns_.valid()) return;
  burial_ = std::async(std::launch::async,
                       [netns = std::move(netns_)] { delete_vip_links(netns.get()); });
}

void LiveInstance::await_burial() {
  if (burial_.valid()) burial_.get();
}

bool LiveInstance::add_luns(const InstancePlan& plan) {
  bool added = false;
  for (const LunPath& lun : plan.luns) {
    const bool known =
        std::any_of(state_.luns.begin(), state_.luns.end(),
                    [&](const LunIdentity& identity) { return identity.uuid == lun.uuid; });
    if (known) continue;
    state_.luns.push_back({lun.uuid, lun.lock_device, lun.lock_inode});
    added = true;
  }
  return added;
}

Status LiveInstance::record() const {
  return write_file_atomically(paths_.state_file, render_state(state_), 0600);
}

void LiveInstance::take(Process process) {
  auto netns = process.network_namespace();
  if (netns) netns_ = std::move(*netns);
  process_.emplace(std::move(process));
}

}  // namespace symnas::vnfsd::instance
