// Agent: persistent reservations. This boot registers on the cluster's LUNs before it starts any
// instance; a fence preempts another boot's key on all of them (docs/architecture/fencing.md). And
// the fence agent, the other way to cut a head off.
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

LunNames identified_luns(const ClusterView& view) {
  LunNames luns;
  for (const auto& [name, lun] : view.luns) {
    if (!lun.record.identification().empty()) luns[lun.record.identification()] = name;
  }
  return luns;
}

void Agent::follow_reservations(const ClusterView& view) {
  if (!reservations_) return;
  const auto self = view.heads.find(config_.head_name);
  if (self == view.heads.end() || self->second.record.incarnation() != incarnation_) return;
  const auto fence = view.fences.find(config_.head_name);
  if (fence != view.fences.end() && forbids_claims(fence->second.record, incarnation_)) return;
  reservations_->follow(identified_luns(view), lun_candidates(view));
}

Status Agent::check_registered(const ClusterView& view, const std::string& vnfs) const {
  if (!reservations_) return {};
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  LunNames used;
  for (const std::string& volume : volumes_of_vnfs(view, stored->record)) {
    for (const auto* lun : luns_of_volume(view, volume)) {
      if (!lun->identification().empty()) used[lun->identification()] = lun->name();
    }
  }
  Status registered = reservations_->check(used);
  for (const instance::LunPath& lun : luns_.paths()) {
    const auto found = std::ranges::find(used, lun.name, &LunNames::value_type::second);
    if (registered && found != used.end())
      registered = reservations_->check_device(found->first, lun.name, lun.path);
  }
  if (registered) return {};
  return fail(registered.error().code,
              fmt::format("vnfs {}: not started: {}", vnfs, registered.error().message));
}

bool Agent::is_registered_on(const ClusterView& view, const std::string& lun,
                             const std::string& device) const {
  const auto found = view.luns.find(lun);
  if (!reservations_ || found == view.luns.end() || found->second.record.identification().empty())
    return true;
  const std::string& identification = found->second.record.identification();
  return reservations_->check({{identification, lun}}).has_value() &&
         reservations_->check_device(identification, lun, device).has_value();
}

Result<std::string> Agent::identification_of(const std::string& name, const std::string& path) {
  if (!links_.reservations) return std::string();
  const auto node = cvm::canonical_lun_node(path);
  if (!node) return std::string();  // its import says why
  const auto found = links_.reservations.identify({node->path});
  if (found && found->contains(node->path)) {
    // One LUN that cannot would keep every head from registering on it.
    const Status able = reservations_ ? links_.reservations.check_capable(node->path) : Status();
    if (able) return found->at(node->path);
    return fail(ErrorCode::kNotSupported,
                fmt::format("lun {}: no head could be cut off from it: {} (persistent_reservations "
                            "in vnfsd.toml asks for that)",
                            name, able.error().message));
  }
  if (!reservations_) return std::string();
  return fail(ErrorCode::kNotSupported,
              fmt::format("lun {}: {} answers no persistent reservations, so no head could be cut "
                          "off from it: {} (persistent_reservations in vnfsd.toml asks for them)",
                          name, path, found ? "it has no identification" : found.error().message));
}

bool Agent::can_fence() const { return reservations_ != nullptr || links_.fence_off != nullptr; }

std::string Agent::why_no_failover() const {
  if (!can_fence()) {
    return fmt::format(
        "neither reservations nor a fence agent are configured on {} ([fence] in vnfsd.toml)",
        config_.head_name);
  }
  if (!config_.fence.automatic) {
    return fmt::format(
        "`automatic` is off on {} ([fence] in vnfsd.toml); symnas head fence does it",
        config_.head_name);
  }
  return "";
}

// What is broken is to be known before a head dies.
void Agent::look_at_fence_agent() {
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  if (!fence_check_.valid()) {
    const bool due = fence_checked_ms_ == 0 || now_ms - fence_checked_ms_ >= kFenceCheckMs;
    if (!links_.fence_check || !due) return;
    if (const auto seen = copy_.view(); seen && *seen && is_any_being_cut_off(**seen)) return;
    fence_checked_ms_ = now_ms;
    fence_check_ = std::async(std::launch::async, [this] { return check_fence_agent(); });
    return;
  }
  if (fence_check_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const std::optional<Status> works = fence_check_.get();
  if (!works) return;
  const std::string error = *works ? "" : works->error().message;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(fence_agent_error_, error) == error) return;
  }
  if (*works) {
    log::info("the fence agent works again");
  } else {
    log::error("{}", error);
  }
}

std::optional<Status> Agent::check_fence_agent() {
  eventfd_t ignored = 0;
  ::eventfd_read(stop_check_.get(), &ignored);  // of before; whoever wants its end says it again
  {
    const std::scoped_lock lock(mutex_);
    if (ending_) return std::nullopt;
  }
  const std::unique_lock agent(fence_agent_mutex_, std::try_to_lock);
  if (!agent) return std::nullopt;
  Status works = links_.fence_check(stop_check_.get());
  pollfd stopped{stop_check_.get(), POLLIN, 0};
  if (::poll(&stopped, 1, 0) != 0) return std::nullopt;
  return works;
}

std::unique_lock<std::mutex> Agent::take_fence_agent() {
  std::unique_lock agent(fence_agent_mutex_, std::defer_lock);
  for (;;) {
    ::eventfd_write(stop_check_.get(), 1);
    if (agent.try_lock()) return agent;
    std::this_thread::sleep_for(std::chrono::milliseconds(kFenceCheckEndsMs));
  }
}

Status Agent::check_can_fence(const ClusterView& view) const {
  if (!reservations_ || links_.fence_off) return {};
  return reservations_->check(identified_luns(view));
}

// Nothing is proved about LUNs that nobody named: all of the cluster are, or it says which not.
Result<CutOff> Agent::preempt_head(const std::string& head, const std::string& incarnation) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
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

// The ladder: reservations first, because nobody loses its power by them.
Result<CutOff> Agent::cut_off(const std::string& head, const std::string& incarnation) {
  Error first;
  if (reservations_) {
    auto done = preempt_head(head, incarnation);
    if (done || !links_.fence_off) return done;
    first = done.error();
    log::warn("head {}: {}; trying the fence agent", head, first.message);
    // That may have taken a minute, and the agent knows the head by its name only.
    SYMNAS_TRY(check_still_fenced(head, incarnation));
  }
  const auto agent = take_fence_agent();
  auto proof = links_.fence_off(head);
  if (proof) return CutOff{std::move(*proof), config_.fence.cuts, std::nullopt};
  if (!first.message.empty()) proof.error().message = first.message + "; " + proof.error().message;
  return tl::unexpected<Error>(proof.error());
}

}  // namespace symnas::vnfsd::daemon
