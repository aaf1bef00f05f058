#include "vnfsd/daemon/lun_health.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/env/clock.h"
#include "cvm/lun_device.h"
#include "vnfsd/daemon/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

std::int64_t now_ms() { return env::system_clock().mono_ns() / 1'000'000; }

}  // namespace

void LunHealth::asked(std::int64_t now_ms) { asked_ms_ = now_ms; }

void LunHealth::answered(std::int64_t now_ms, const std::string& error) {
  asked_ms_ = -1;
  if (error.empty()) {
    failing_ms_ = -1;
    failures_ = 0;
    return;
  }
  if (failing_ms_ < 0) failing_ms_ = now_ms;
  ++failures_;
  error_ = error;
}

bool LunHealth::fails(std::int64_t now_ms) const {
  const bool hangs = asked_ms_ >= 0 && now_ms - asked_ms_ >= kLunHangsMs;
  const bool errs =
      failures_ >= kLunFailuresMin && failing_ms_ >= 0 && now_ms - failing_ms_ >= kLunFailsMs;
  return hangs || errs;
}

LunHealth::State LunHealth::look(std::int64_t now_ms) {
  if (fails(now_ms)) {
    if (ill_ms_ < 0) ill_ms_ = now_ms;
    well_ms_ = -1;
    const bool hangs = asked_ms_ >= 0 && now_ms - asked_ms_ >= kLunHangsMs;
    why_ = hangs ? fmt::format("a read of it has not been answered for {} s or more on this head",
                               kLunHangsMs / 1000)
                 : fmt::format("it cannot be read on this head: {}", error_);
    return now_ms - ill_ms_ >= kLunWorseMs ? State::kWorse : State::kIll;
  }
  if (ill_ms_ < 0) return State::kWell;
  const bool answers = failures_ == 0 && asked_ms_ < 0;
  if (!answers && failures_ > 0) well_ms_ = -1;
  if (answers && well_ms_ < 0) well_ms_ = now_ms;
  if (well_ms_ >= 0 && now_ms - well_ms_ >= kLunWellMs) {
    ill_ms_ = well_ms_ = -1;
    why_.clear();
    return State::kWell;
  }
  return State::kIll;
}

struct LunCanaries::Canary {
  explicit Canary(instance::LunPath path) : lun(std::move(path)) {}

  const instance::LunPath lun;
  std::mutex mutex;
  std::condition_variable changed;
  bool ending = false;
  LunHealth health;
};

LunCanaries::LunCanaries(std::function<void()> changed)
    : changed_(std::move(changed)), thread_([this] { run(); }) {}

LunCanaries::~LunCanaries() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  ending_now_.notify_all();
  thread_.join();
  follow({});
}

void LunCanaries::follow(const std::vector<instance::LunPath>& luns) {
  std::map<std::string, std::shared_ptr<Canary>> wanted;
  const std::scoped_lock lock(mutex_);
  for (const instance::LunPath& lun : luns) {
    const auto known = canaries_.find(lun.uuid);
    const bool same = known != canaries_.end() && known->second->lun.path == lun.path &&
                      known->second->lun.lock_inode == lun.lock_inode &&
                      known->second->lun.lock_device == lun.lock_device;
    if (same) {
      wanted.insert(canaries_.extract(known));
      continue;
    }
    const auto canary = std::make_shared<Canary>(lun);
    std::thread(read_again_and_again, canary).detach();
    wanted.emplace(lun.uuid, canary);
  }
  for (const auto& [uuid, canary] : canaries_) {
    {
      const std::scoped_lock canary_lock(canary->mutex);
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
  std::unique_lock lock(canary->mutex);
  while (!canary->ending) {
    canary->health.asked(now_ms());
    lock.unlock();
    std::string error;
    if (!device) {
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
        device.reset();  // it may be there again as another node
      }
    }
    lock.lock();
    canary->health.answered(now_ms(), error);
    canary->changed.wait_for(lock, std::chrono::milliseconds(kLunReadMs),
                             [&] { return canary->ending; });
  }
}

std::map<std::string, std::string> LunCanaries::ill() const {
  const std::scoped_lock lock(mutex_);
  return ill_;
}

std::set<std::string> LunCanaries::worse() const {
  const std::scoped_lock lock(mutex_);
  return worse_;
}

// REQUIRES: mutex_ is held. Answers whether who is ill has changed.
bool LunCanaries::look() {
  std::map<std::string, std::string> ill;
  std::set<std::string> worse;
  bool changed = false;
  for (const auto& [uuid, canary] : canaries_) {
    const std::scoped_lock lock(canary->mutex);
    const LunHealth::State state = canary->health.look(now_ms());
    const bool was_ill = ill_.contains(uuid);
    if (state != LunHealth::State::kWell) ill[uuid] = canary->health.why();
    if (state == LunHealth::State::kWorse) worse.insert(uuid);
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
  std::unique_lock lock(mutex_);
  while (!ending_now_.wait_for(lock, std::chrono::milliseconds(kLunLookMs),
                               [this] { return ending_; })) {
    if (!look()) continue;
    lock.unlock();
    changed_();
    lock.lock();
  }
}

}  // namespace symnas::vnfsd::daemon
