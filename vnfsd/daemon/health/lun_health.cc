#include "vnfsd/daemon/health/lun_health.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/env/clock.h"
#include "cvm/lun_device.h"
#include "vnfsd/daemon/health/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

std::int64_t now_ns() { return env::system_clock().mono_ns(); }
std::int64_t now_ms() { return now_ns() / 1'000'000; }

}  // namespace

struct LunCanaries::Canary {
  Canary(instance::LunPath path, Health before) : lun(std::move(path)), health(before) {}

  const instance::LunPath lun;  // its path is "": it has gone
  Mutex mutex;
  CondVar changed;
  bool ending GUARDED_BY(mutex) = false;
  Health health GUARDED_BY(mutex);
  LunReads reads GUARDED_BY(mutex);             // without uuid and name
  std::int64_t asked_ns GUARDED_BY(mutex) = 0;  // of the read under way; 0: none is
};

LunCanaries::LunCanaries(std::function<void()> changed)
    : changed_(std::move(changed)), thread_([this] { run(); }) {}

LunCanaries::~LunCanaries() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  ending_now_.notify_all();
  thread_.join();
  follow({}, {});
}

void LunCanaries::follow(const std::vector<instance::LunPath>& luns,
                         const std::set<std::string>& cluster) {
  std::map<std::string, std::shared_ptr<Canary>> wanted;
  const MutexLock lock(mutex_);
  std::map<std::string, instance::LunPath> all;
  for (const auto& [uuid, canary] : canaries_) {
    if (cluster.contains(uuid)) all[uuid] = {canary->lun.name, uuid, "", 0, 0};
  }
  for (const instance::LunPath& lun : luns) all[lun.uuid] = lun;
  for (const auto& [uuid, lun] : all) {
    const auto known = canaries_.find(lun.uuid);
    const bool same = known != canaries_.end() && known->second->lun.path == lun.path &&
                      known->second->lun.lock_inode == lun.lock_inode &&
                      known->second->lun.lock_device == lun.lock_device;
    if (same) {
      wanted.insert(canaries_.extract(known));
      continue;
    }
    Health before;  // of the LUN, whatever it was called
    if (known != canaries_.end()) {
      const MutexLock canary_lock(known->second->mutex);
      before = known->second->health;
      before.given_up();
    }
    const auto canary = std::make_shared<Canary>(lun, before);
    std::thread(read_again_and_again, canary).detach();
    wanted.emplace(lun.uuid, canary);
  }
  for (const auto& [uuid, canary] : canaries_) {
    {
      const MutexLock canary_lock(canary->mutex);
      canary->ending = true;
    }
    canary->changed.notify_all();
  }
  canaries_ = std::move(wanted);
}

// Shares nothing with the rest of the process but the canary.
void LunCanaries::read_again_and_again(const std::shared_ptr<Canary>& canary) {
  std::optional<cvm::LunDevice> device;
  alignas(4096) std::array<std::byte, kLunReadBytes> block{};
  MutexLock lock(canary->mutex);
  while (!canary->ending) {
    const std::int64_t asked_ns = now_ns();
    canary->health.asked(asked_ns / 1'000'000);
    canary->asked_ns = asked_ns;
    lock.unlock();
    std::string error;
    bool refused = false;
    if (canary->lun.path.empty()) {
      error = "no device with its label is visible any more";
    } else if (!device) {
      auto opened = cvm::LunDevice::open(canary->lun.path, cvm::Access::kRead);
      if (opened) {
        device = std::move(*opened);
      } else {
        error = opened.error().message;
      }
    }
    if (device) {
      const Status read = device->read(0, block);
      if (!read) {
        error = read.error().message;
        refused = read.error().code == ErrorCode::kFenced;
        device.reset();  // it may be there again as another node
      }
    }
    lock.lock();
    canary->asked_ns = 0;
    if (error.empty()) {
      canary->reads.seconds.observe(static_cast<double>(now_ns() - asked_ns) / 1e9);
    } else {
      ++canary->reads.errors;
    }
    if (refused) {
      canary->health.refused(now_ms(), error);
    } else {
      canary->health.answered(now_ms(), error);
    }
    canary->changed.wait_for(canary->mutex, std::chrono::milliseconds(kTryMs),
                             [&]() REQUIRES(canary->mutex) { return canary->ending; });
  }
}

std::map<std::string, std::string> LunCanaries::ill() const {
  const MutexLock lock(mutex_);
  return ill_;
}

std::set<std::string> LunCanaries::worse() const {
  const MutexLock lock(mutex_);
  return worse_;
}

std::vector<LunReads> LunCanaries::reads() const {
  std::vector<LunReads> out;
  const MutexLock lock(mutex_);
  for (const auto& [uuid, canary] : canaries_) {
    const MutexLock canary_lock(canary->mutex);
    LunReads reads = canary->reads;
    reads.uuid = uuid;
    reads.name = canary->lun.name;
    if (canary->asked_ns != 0) reads.waiting_ms = (now_ns() - canary->asked_ns) / 1'000'000;
    out.push_back(std::move(reads));
  }
  return out;
}

bool LunCanaries::look() {
  std::map<std::string, std::string> ill;
  std::set<std::string> worse;
  bool changed = false;
  for (const auto& [uuid, canary] : canaries_) {
    const MutexLock lock(canary->mutex);
    const Health::State state = canary->health.look(now_ms());
    const bool was_ill = ill_.contains(uuid);
    if (state == Health::State::kRegistering) {
      ill[uuid] = "registering: heads have reserved it, and this head's key is not on it yet";
    } else if (state != Health::State::kWell) {
      ill[uuid] = fmt::format("it cannot be read on this head: {}", canary->health.why());
    }
    // VNFSs that are here could not be given up: nothing proves the end of their I/O to a node that
    // has gone.
    const bool gone = canary->lun.path.empty();
    if (state == Health::State::kWorse && !gone) worse.insert(uuid);
    changed = changed || was_ill != ill.contains(uuid);
    if (!was_ill && ill.contains(uuid)) log::warn("lun {}: {}", canary->lun.name, ill[uuid]);
    if (was_ill && !ill.contains(uuid)) log::info("lun {}: is well again", canary->lun.name);
  }
  changed = changed || worse != worse_;
  ill_ = std::move(ill);
  worse_ = std::move(worse);
  return changed;
}

void LunCanaries::run() {
  MutexLock lock(mutex_);
  while (!ending_now_.wait_for(mutex_, std::chrono::milliseconds(kLunLookMs),
                               [this]() REQUIRES(mutex_) { return ending_; })) {
    if (!look()) continue;
    lock.unlock();
    changed_();
    lock.lock();
  }
}

}  // namespace symnas::vnfsd::daemon
