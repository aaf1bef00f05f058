#include "vnfsd/daemon/fencing/fence_means.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/luns/registrations.h"

namespace symnas::vnfsd::daemon {

FenceMeans::FenceMeans(const ThisHead& head, Reservations* reservations, FenceCalls calls,
                       std::stop_token end)
    : head_(head),
      reservations_(reservations),
      calls_(std::move(calls)),
      end_(std::move(end)),
      stop_check_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(stop_check_.valid(), "eventfd");
}

void FenceMeans::follow(const ClusterView& view, bool clocks_agree) {
  const MutexLock lock(mutex_);
  by_pacemaker_ = view.cluster.record.decider() == records::DECIDER_PACEMAKER;
  clocks_agree_ = clocks_agree;
  if (!clocks_agree) boots_.clear();
  std::erase_if(boots_, [&](const auto& one) { return !view.heads.contains(one.first); });
  for (const auto& [name, head] : view.heads) {
    Boot& boot = boots_[name];
    if (boot.incarnation == head.record.incarnation()) continue;
    boot = {head.record.incarnation(), head_.clock.mono_ns()};
  }
}

std::optional<std::int64_t> FenceMeans::boot_known_since_s(const std::string& head,
                                                           const std::string& incarnation) const {
  const MutexLock lock(mutex_);
  const auto boot = boots_.find(head);
  const bool is_known = boot != boots_.end() && boot->second.incarnation == incarnation;
  if (!by_pacemaker_ || !clocks_agree_ || !is_known) return std::nullopt;
  const std::int64_t age_ns = head_.clock.mono_ns() - boot->second.seen_mono_ns;
  return (head_.clock.wall_ns() - age_ns) / 1'000'000'000 + kStonithMarginS;
}

bool FenceMeans::has_stonith() const {
  const MutexLock lock(mutex_);
  return by_pacemaker_ && calls_.stonith_off;
}

bool FenceMeans::can_fence() const {
  return reservations_ != nullptr || calls_.off != nullptr || has_stonith();
}

std::string FenceMeans::why_no_failover() const {
  if (!can_fence()) {
    return fmt::format(
        "neither reservations nor a fence agent are configured on {} ([fence] in vnfsd.toml)",
        head_.config.head_name);
  }
  if (!head_.config.fence.automatic) {
    return fmt::format(
        "`automatic` is off on {} ([fence] in vnfsd.toml); symnas head fence does it",
        head_.config.head_name);
  }
  return "";
}

std::optional<Status> FenceMeans::check_agent() {
  eventfd_t ignored = 0;
  ::eventfd_read(stop_check_.get(), &ignored);  // of before; whoever wants its end says it again
  if (end_.stop_requested()) return std::nullopt;
  if (!fence_agent_mutex_.try_lock()) return std::nullopt;
  const MutexLock agent(fence_agent_mutex_, std::adopt_lock);
  Status works = calls_.check(stop_check_.get());
  pollfd stopped{stop_check_.get(), POLLIN, 0};
  if (::poll(&stopped, 1, 0) != 0) return std::nullopt;
  return works;
}

void FenceMeans::stop_check() { ::eventfd_write(stop_check_.get(), 1); }

void FenceMeans::take_fence_agent() {
  for (;;) {
    stop_check();
    if (fence_agent_mutex_.try_lock()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(kFenceCheckEndsMs));
  }
}

Status FenceMeans::check_can_fence(const ClusterView& view) const {
  if (!reservations_ || calls_.off) return {};
  return reservations_->check(identified_luns(view));
}

// Nothing is proved about LUNs that nobody named: all of the cluster are, or it says which not.
Result<CutOff> FenceMeans::preempt_head(const std::string& head, const std::string& incarnation) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  for (const auto& [name, lun] : view.luns) {
    if (!lun.record.identification().empty()) continue;
    return fail(ErrorCode::kUnavailable,
                fmt::format("reservations: lun {} has no identification: no head can be cut off "
                            "from it (release it and import it again)",
                            name));
  }
  const LunNames luns = identified_luns(view);
  SYMNAS_ASSIGN(std::string proof, reservations_->preempt(head + "/" + incarnation, luns));
  return CutOff{std::move(proof), "luns", luns};
}

// What pacemaker has turned off before this fence began would be turned off again: whether it was
// that boot is not known.
Result<CutOff> FenceMeans::ask_stonith(const std::string& head) {
  if (!has_stonith()) {
    return fail(ErrorCode::kNotSupported,
                fmt::format("head {}: cannot be cut off: {}", head, why_no_failover()));
  }
  const std::int64_t now_s = head_.clock.wall_ns() / 1'000'000'000;
  SYMNAS_ASSIGN(std::string proof, calls_.stonith_off(head, now_s));
  return CutOff{std::move(proof), head_.config.fence.cuts, std::nullopt};
}

// The ladder: reservations first, because nobody loses its power by them.
Result<CutOff> FenceMeans::cut_off(const std::string& head, const std::string& incarnation,
                                   const std::function<Status()>& still_fenced) {
  Error first;
  if (const auto since_s = boot_known_since_s(head, incarnation);
      since_s && calls_.stonith_confirmed) {
    const auto proof = calls_.stonith_confirmed(head, *since_s);
    if (proof) return CutOff{*proof, head_.config.fence.cuts, std::nullopt};
    log::info("head {}: {}", head, proof.error().message);
    SYMNAS_TRY(still_fenced());
  }
  if (reservations_ == nullptr && !calls_.off) return ask_stonith(head);
  if (reservations_) {
    auto done = preempt_head(head, incarnation);
    if (done || !calls_.off) return done;
    first = done.error();
    log::warn("head {}: {}; trying the fence agent", head, first.message);
    // That may have taken a minute, and the agent knows the head by its name only.
    SYMNAS_TRY(still_fenced());
  }
  take_fence_agent();
  const MutexLock agent(fence_agent_mutex_, std::adopt_lock);
  auto proof = calls_.off(head);
  if (proof) return CutOff{std::move(*proof), head_.config.fence.cuts, std::nullopt};
  if (!first.message.empty()) proof.error().message = first.message + "; " + proof.error().message;
  return tl::unexpected<Error>(proof.error());
}

}  // namespace symnas::vnfsd::daemon
