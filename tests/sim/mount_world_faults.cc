// MountWorld: its faults.
#include <utility>

#include "tests/sim/mount_world.h"

namespace symnas::sim {

namespace {

std::int64_t up_to_ms(std::uint64_t ms) {
  return static_cast<std::int64_t>(below(ms * 1'000'000 + 1));
}

}  // namespace

// --- faults

void MountWorld::kill_instance() {
  disturbed_ = true;
  if (instance_ && instance_->process->alive()) kill(*instance_->process);
}

void MountWorld::kill_all() {
  kill_instance();
  if (standby_ != nullptr && standby_->process->alive()) kill(*standby_->process);
  for (const auto& instance : dead_) {
    if (instance->process->alive()) kill(*instance->process);
  }
}

void MountWorld::lose_power() {
  kill_all();
  array_->lose_power();
}

void MountWorld::outlive() {
  if (below(2) == 0) wait_until(this, "an instance that serves", [this] { return healthy(); });
  if (instance_ == nullptr || instance_->outlives || !instance_->process->alive()) return;
  Instance& instance = *instance_;
  if (below(6) != 0) instance.faults->set_partitioned(true);
  instance.outlives = true;
  wake(instance.process);
}

void MountWorld::close_cleanly() {
  wait_until(this, "an instance that serves", [this] { return healthy(); });
  if (below(2) == 0) {  // to another head, which answers the order with a standby
    prepare();
    const Instance* const standby = standby_.get();
    if (standby != nullptr) static_cast<void>(wait_ready(*standby));
    if (!healthy()) return;  // it has died meanwhile
  }
  Instance& instance = *instance_;
  Process& process = *instance.process;
  instance.closing = true;
  wait_until(this, "running requests", [&] { return instance.requests == 0 || !process.alive(); });
  if (!process.alive()) return;
  const bool destroys = below(2) == 0;
  spawn(process, "close", [this, &instance, &process, destroys] {
    const Status closed = instance.mount->close();
    trace("closed: %s", closed ? "well" : closed.error().message.c_str());
    if (closed) retired_.insert(instance.epoch);
    if (closed && destroys) delete instance.mount;
    kill(process);
  });
  wait_until(&process, "a clean close", [&process] { return !process.alive(); });
}

// The standby, if there is one, or the instance.
MountWorld::Instance* MountWorld::pick_victim() {
  return standby_ != nullptr && below(3) == 0 ? standby_.get() : instance_.get();
}

// Fills etcd's quota: for a moment, or for longer than the gate's window with a fence in between.
void MountWorld::fill_up() {
  server_->set_quota(kv::MemServer::Quota::kFull);
  const bool lasts = below(4) == 0;
  sleep_ns(up_to_ms(lasts ? 12'000 : 100));
  if (lasts && below(3) == 0) {
    if (below(2) == 0) {
      kill_instance();
    } else if (healthy()) {
      outlive();
    }
    sleep_ns(up_to_ms(500));
  }
  server_->set_quota(kv::MemServer::Quota::kFree);
}

void MountWorld::disturb(const Hazards& hazards) {
  const int weights[] = {hazards.kill,      hazards.power,   hazards.pause,
                         hazards.partition, hazards.quota,   hazards.watches,
                         hazards.close,     hazards.outlive, hazards.nothing};
  int total = 0;
  for (const int weight : weights) total += weight;
  int dice = static_cast<int>(below(static_cast<std::uint64_t>(total)));
  int which = 0;
  while (dice >= weights[which]) dice -= weights[which++];
  disturbed_ = true;
  Instance* const instance = which < 4 ? pick_victim() : instance_.get();
  if (instance == nullptr || !instance->process->alive()) return;
  const std::shared_ptr<SimFaults> faults = instance->faults;
  switch (which) {
    case 0: kill(*instance->process); break;
    case 1: lose_power(); break;
    case 2: pause(*instance->process, up_to_ms(below(3) == 0 ? 20'000 : 300)); break;
    case 3:
      if (instance->outlives) break;  // it stays cut off until it has been ended
      faults->set_partitioned(true);
      sleep_ns(up_to_ms(2'000));
      faults->set_partitioned(false);
      break;
    case 4:
      faults->set_refuse_late(below(200'000));
      fill_up();
      faults->set_refuse_late(0);
      break;
    case 5: instance->store->end_watches(); break;
    case 6: close_cleanly(); break;
    case 7: outlive(); break;
    default: break;
  }
}

void MountWorld::settle() {
  calm_ = true;
  calm();
  set_presence(Presence::kHere);
  server_->set_quota(kv::MemServer::Quota::kFree);
  if (instance_ && !instance_->outlives) {  // that one must stay cut off until it has been ended
    const auto lun = instance_->lun;
    const auto faults = instance_->faults;
    lun->calm();
    faults->stop();
  }
  if (standby_) {
    const auto faults = standby_->faults;
    faults->stop();
  }
  for (std::size_t i = 0; i < dead_.size(); ++i) {
    const auto faults = dead_[i]->faults;
    faults->stop();
  }
  wait_until(this, "an instance that serves", [this] { return healthy(); });
}

}  // namespace symnas::sim
