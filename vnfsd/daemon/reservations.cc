#include "vnfsd/daemon/reservations.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "cvm/lun.h"
#include "vnfsd/daemon/limits.h"

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
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Reservations::follow(const LunNames& luns, std::vector<std::string> candidates) {
  {
    const std::scoped_lock lock(mutex_);
    if (!followed_ || luns != wanted_ || candidates != candidates_) ++wishes_;
    followed_ = true;
    wanted_ = luns;
    candidates_ = std::move(candidates);
    std::erase_if(registered_, [&](const auto& lun) { return !wanted_.contains(lun.first); });
    if (wanted_.empty() && times_ == 0) times_ = 1;
  }
  wake_.notify_all();
}

void Reservations::doubt() {
  {
    const std::scoped_lock lock(mutex_);
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
  const std::scoped_lock lock(mutex_);
  return check_locked(luns);
}

Status Reservations::wait(const LunNames& luns, std::int64_t timeout_ms) const {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                 [&] { return ending_ || fenced_ || check_locked(luns); });
  return check_locked(luns);
}

std::uint64_t Reservations::registered_times() const {
  const std::scoped_lock lock(mutex_);
  return times_;
}

bool Reservations::undecided() const {
  const std::scoped_lock lock(mutex_);
  return times_ == 0 && error_.empty();
}

std::string Reservations::error() const {
  const std::scoped_lock lock(mutex_);
  if (!error_.empty() || is_due()) return error_.empty() ? "it is being done" : error_;
  return followed_ ? "" : "etcd has not been read yet";
}

Result<std::string> Reservations::preempt(const std::string& victim, const LunNames& luns) {
  std::vector<ha::NamedLun> named;
  {
    const std::scoped_lock lock(mutex_);
    SYMNAS_TRY(check_locked(luns));
    for (const auto& [identification, name] : luns)
      named.push_back({identification, registered_.at(identification)});
  }
  if (named.empty())
    return fail(ErrorCode::kUnavailable, "reservations: no LUN has them: nothing can be proved");
  auto proof = calls_.preempt(own_, victim, named);
  if (!proof && proof.error().code == ErrorCode::kPermission) doubt();
  return proof;
}

bool Reservations::is_due() const {
  return followed_ && !fenced_ && (doubted_ || !all_in(wanted_, registered_));
}

void Reservations::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    wake_.wait(lock, [&] { return ending_ || is_due(); });
    if (ending_) return;
    const LunNames wanted = wanted_;
    const std::vector<std::string> candidates = candidates_;
    const std::uint64_t wishes = wishes_;
    doubted_ = false;
    lock.unlock();
    auto luns = find(wanted, candidates);
    Status done;
    if (!luns) {
      done = tl::unexpected<Error>(luns.error());
    } else {
      done = calls_.register_boot(own_, *luns);
    }
    lock.lock();
    const std::string before = std::exchange(error_, done ? "" : done.error().message);
    if (done) {
      for (const ha::NamedLun& lun : *luns) registered_[lun.identification] = lun.device;
      std::erase_if(registered_, [&](const auto& lun) { return !wanted_.contains(lun.first); });
      ++times_;
      log::info("{}: registered on {} LUNs", own_, luns->size());
    } else if (done.error().code == ErrorCode::kPermission) {
      fenced_ = true;
      registered_.clear();
      error_ = fmt::format("{}: {} (reboot this head: its next boot registers and serves again)",
                           own_, done.error().message);
    } else {
      doubted_ = doubted_ || all_in(wanted_, registered_);
    }
    if (error_ != before && !error_.empty()) log::error("{}", error_);
    wake_.notify_all();
    lock.unlock();
    changed_();
    lock.lock();
    if (done || fenced_) continue;
    wake_.wait_for(lock, std::chrono::milliseconds(kRegisterAgainMs),
                   [&] { return ending_ || wishes_ != wishes; });
  }
}

// One device for each LUN: with several paths the one that is part of no other.
Result<std::vector<ha::NamedLun>> Reservations::find(
    const LunNames& luns, const std::vector<std::string>& candidates) const {
  SYMNAS_ASSIGN(const std::vector<cvm::LunNode> nodes, cvm::candidate_nodes(candidates));
  std::vector<std::string> devices;
  for (const cvm::LunNode& node : nodes) devices.push_back(node.path);
  SYMNAS_ASSIGN(const auto identifications, calls_.identify(devices));
  std::vector<ha::NamedLun> found;
  for (const auto& [identification, name] : luns) {
    std::vector<std::string> usable;
    std::string why = "no device with its identification is visible (lun_paths in vnfsd.toml)";
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
    if (usable.size() != 1)
      return fail(ErrorCode::kNotFound, fmt::format("lun {} ({}): {}", name, identification, why));
    found.push_back({identification, usable[0]});
  }
  return found;
}

}  // namespace symnas::vnfsd::daemon
