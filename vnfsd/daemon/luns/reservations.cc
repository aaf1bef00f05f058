#include "vnfsd/daemon/luns/reservations.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "cvm/lun.h"
#include "vnfsd/daemon/luns/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

bool all_in(const LunNames& luns, const std::map<std::string, std::string>& registered) {
  return std::all_of(luns.begin(), luns.end(),
                     [&](const auto& lun) { return registered.contains(lun.first); });
}

}  // namespace

Reservations::Reservations(ReservationCalls calls, std::string own, std::function<void()> changed)
    : calls_(std::move(calls)),
      own_(std::move(own)),
      changed_(std::move(changed)),
      thread_([this] { run(); }) {}

Reservations::~Reservations() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Reservations::follow(const LunNames& luns, std::vector<std::string> candidates) {
  {
    const MutexLock lock(mutex_);
    if (!followed_ || luns != wanted_ || candidates != candidates_) ++wishes_;
    followed_ = true;
    wanted_ = luns;
    candidates_ = std::move(candidates);
    std::erase_if(registered_,
                  [&](const auto& lun) REQUIRES(mutex_) { return !wanted_.contains(lun.first); });
    doubted_ = doubted_ && !registered_.empty();  // there is nothing to look at
    if (!fenced_ && !is_due()) error_.clear();    // what failed is not wanted any more
    if (wanted_.empty() && times_ == 0) times_ = 1;
  }
  wake_.notify_all();
}

void Reservations::doubt() {
  {
    const MutexLock lock(mutex_);
    doubted_ = !registered_.empty();
  }
  wake_.notify_all();
}

Status Reservations::check_locked(const LunNames& luns) const {
  if (fenced_) return fail(ErrorCode::kPermission, error_);
  if (times_ > 0 && all_in(luns, registered_)) return {};
  return fail(ErrorCode::kUnavailable, fmt::format("{}: is not registered on the LUNs: {}", own_,
                                                   error_.empty() ? "it is being done" : error_));
}

Status Reservations::check(const LunNames& luns) const {
  const MutexLock lock(mutex_);
  return check_locked(luns);
}

Status Reservations::check_device(const std::string& identification, const std::string& lun,
                                  const std::string& device) {
  {
    const MutexLock lock(mutex_);
    const auto known = registered_.find(identification);
    if (known == registered_.end()) return {};
    if (known->second == device) {
      disputed_.erase(identification);
      return {};
    }
    if (disputed_[identification] == device)
      return fail(
          ErrorCode::kUnavailable,
          fmt::format("lun {}: its label is on {}, but {} has its identification {}, and is "
                      "what this head is registered on (a copy of the LUN? take one of "
                      "them off this head)",
                      lun, device, known->second, identification));
    disputed_[identification] = device;
    doubted_ = true;
  }
  wake_.notify_all();
  return fail(ErrorCode::kUnavailable,
              fmt::format("lun {}: its label is on {}, where this head has not registered: looking "
                          "anew",
                          lun, device));
}

bool Reservations::is_ending() const {
  const MutexLock lock(mutex_);
  return ending_;
}

Status Reservations::wait(const LunNames& luns, std::int64_t timeout_ms) const {
  const MutexLock lock(mutex_);
  wake_.wait_for(mutex_, std::chrono::milliseconds(timeout_ms),
                 [&]() REQUIRES(mutex_) { return ending_ || fenced_ || check_locked(luns); });
  return check_locked(luns);
}

std::uint64_t Reservations::registered_times() const {
  const MutexLock lock(mutex_);
  return times_;
}

bool Reservations::undecided() const {
  const MutexLock lock(mutex_);
  return times_ == 0 && error_.empty();
}

std::string Reservations::error() const {
  const MutexLock lock(mutex_);
  if (!error_.empty() || is_due()) return error_.empty() ? "it is being done" : error_;
  return followed_ ? "" : "etcd has not been read yet";
}

Result<std::string> Reservations::preempt(const std::string& victim, const LunNames& luns) {
  std::vector<std::string> candidates;
  {
    const MutexLock lock(mutex_);
    SYMNAS_TRY(check_locked(luns));
    candidates = candidates_;
  }
  if (luns.empty())
    return fail(ErrorCode::kUnavailable, "reservations: no LUN has them: nothing can be proved");
  // The device that the LUN had at registration may be gone, or another LUN: an idle head notices
  // nothing.
  const auto found = find(luns, candidates);
  const Status all = found ? found->all : tl::unexpected<Error>(found.error());
  Result<std::string> proof;
  if (all) {
    proof = calls_.preempt(own_, victim, found->luns);
  } else {
    proof = fail(ErrorCode::kUnavailable, "reservations: " + all.error().message);
  }
  if (!proof) doubt();
  return proof;
}

bool Reservations::is_due() const {
  return followed_ && !fenced_ && (doubted_ || !all_in(wanted_, registered_));
}

void Reservations::run() {
  MutexLock lock(mutex_);
  while (!ending_) {
    wake_.wait(mutex_, [&]() REQUIRES(mutex_) { return ending_ || is_due(); });
    if (ending_) return;
    const LunNames wanted = wanted_;
    const std::vector<std::string> candidates = candidates_;
    const std::uint64_t wishes = wishes_;
    doubted_ = false;
    lock.unlock();
    auto found = find(wanted, candidates);
    Found now;
    if (found) {
      now = register_found(std::move(*found), wanted);
    } else {
      now.all = tl::unexpected<Error>(found.error());
    }
    const Status& done = now.all;
    lock.lock();
    const std::string before = std::exchange(error_, done ? "" : done.error().message);
    bool more = done.has_value();
    for (const ha::NamedLun& lun : now.luns) {
      more = more || !registered_.contains(lun.identification);
      registered_[lun.identification] = lun.device;
    }
    std::erase_if(registered_,
                  [&](const auto& lun) REQUIRES(mutex_) { return !wanted_.contains(lun.first); });
    if (more) {
      ++times_;
      log::info("{}: registered on {} LUNs", own_, now.luns.size());
    }
    if (!done && done.error().code == ErrorCode::kPermission) {
      fenced_ = true;
      registered_.clear();
      error_ = fmt::format("{}: {} (reboot this head: its next boot registers and serves again)",
                           own_, done.error().message);
    } else if (!done) {
      doubted_ = doubted_ || all_in(wanted_, registered_);
    }
    if (error_ != before && !error_.empty()) log::error("{}", error_);
    wake_.notify_all();
    lock.unlock();
    changed_();
    lock.lock();
    if (done || fenced_) continue;
    wake_.wait_for(mutex_, std::chrono::milliseconds(kRegisterAgainMs),
                   [&]() REQUIRES(mutex_) { return ending_ || wishes_ != wishes; });
  }
}

// All at once; if that fails, one after the other: what is dead keeps nobody from the others.
Reservations::Found Reservations::register_found(Found found, const LunNames& wanted) const {
  if (found.luns.empty()) return found;
  const Status at_once = calls_.register_boot(own_, found.luns);
  if (at_once) return found;
  Found done;
  done.all = at_once;
  if (at_once.error().code == ErrorCode::kPermission) return done;
  bool told = false;
  for (const ha::NamedLun& lun : found.luns) {
    if (is_ending()) break;
    Status one = at_once;
    if (found.luns.size() > 1) one = calls_.register_boot(own_, {lun});
    if (one) {
      done.luns.push_back(lun);
      continue;
    }
    if (one.error().code == ErrorCode::kPermission) return {{}, one};
    if (std::exchange(told, true)) continue;
    const std::string& name = wanted.at(lun.identification);
    done.all = fail(one.error().code,
                    fmt::format("lun {} at {}: {} (if it is gone for ever, and no volume uses it: "
                                "symnas lun release {} --forget)",
                                name, lun.device, one.error().message, name));
  }
  if (!told) done.all = found.all;  // each of them could be
  return done;
}

// One device for each LUN: with several paths the one that is part of no other.
Result<Reservations::Found> Reservations::find(const LunNames& luns,
                                               const std::vector<std::string>& candidates) const {
  SYMNAS_ASSIGN(const std::vector<cvm::LunNode> nodes, cvm::candidate_nodes(candidates));
  std::vector<std::string> devices;
  for (const cvm::LunNode& node : nodes) devices.push_back(node.path);
  SYMNAS_ASSIGN(const auto identifications, calls_.identify(devices));
  Found found;
  for (const auto& [identification, name] : luns) {
    std::vector<std::string> usable;
    std::string why = fmt::format(
        "no device with its identification is visible (lun_paths in vnfsd.toml; if it is gone for "
        "ever, and no volume uses it: symnas lun release {} --forget)",
        name);
    for (const cvm::LunNode& node : nodes) {
      const auto it = identifications.find(node.path);
      if (it == identifications.end() || it->second != identification) continue;
      if (const Status alone = cvm::check_no_alias(node); alone) {
        usable.push_back(node.path);
      } else {
        why = alone.error().message;
      }
    }
    if (usable.size() > 1)
      why = fmt::format("{} and {} both have its identification", usable[0], usable[1]);
    if (usable.size() == 1) {
      found.luns.push_back({identification, usable[0]});
    } else if (found.all) {
      found.all =
          fail(ErrorCode::kNotFound, fmt::format("lun {} ({}): {}", name, identification, why));
    }
  }
  return found;
}

}  // namespace symnas::vnfsd::daemon
