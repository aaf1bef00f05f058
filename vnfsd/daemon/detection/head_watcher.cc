#include "vnfsd/daemon/detection/head_watcher.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/daemon/detection/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
namespace {

bool owns_something(const ClusterView& view, const std::string& head) {
  return std::any_of(view.owners.begin(), view.owners.end(),
                     [&](const auto& owner) { return owner.second.record.head() == head; });
}

bool is_fenced(const ClusterView& view, const std::string& head, const std::string& incarnation) {
  const auto fence = view.fences.find(head);
  return fence != view.fences.end() && forbids_claims(fence->second.record, incarnation);
}

bool is_decided_elsewhere(const ClusterView& view) {
  return view.cluster.record.decider() != records::DECIDER_BUILTIN;
}

}  // namespace

HeadWatcher::HeadWatcher(const HeadWatcherParts& parts, std::stop_token end)
    : parts_(parts),
      head_(parts.head),
      networks_(parts.head, probe::devices, [&reader = parts.reader] { reader.look_again(); }),
      clocks_(parts.head, parts.events),
      corosync_(parts.head, parts.corosync),
      loop_(std::move(end)) {}

void HeadWatcher::follow(const ClusterView& view) {
  if (parts_.prober == nullptr) return;
  const auto now = std::make_shared<const Neighbours>(neighbours_of(view, head_.config.head_name));
  {
    const MutexLock lock(mutex_);
    neighbours_ = now;
  }
  networks_.follow(now);
  corosync_.follow(*now);
  std::map<std::string, probe::HeadSights::Peer> peers;
  for (const auto& [name, head] : view.heads) {
    if (name != head_.config.head_name)
      peers[name] = {head.record.incarnation(), addresses_of(head.record)};
  }
  parts_.prober->set_peers(std::move(peers), view.cluster.record.probe_key());
}

void HeadWatcher::start() {
  if (parts_.prober != nullptr) loop_.start(kHeadLookMs, [this] { look(); });
}

void HeadWatcher::look() {
  if (parts_.prober == nullptr || !parts_.reader.is_ready()) return;
  const std::vector<ha::PeerSight> sights = this->sights();
  networks_.look(sights);
  clocks_.look(parts_.prober->clocks());
  forget_removed(sights);
  // First: everything below may wait for the store.
  for (const ha::PeerSight& sight : sights) {
    if (sight.silent) leave_member_of(sight.head);
  }
  for (const ha::PeerSight& sight : sights) {
    if (!sight.suspect && !sight.silent) {
      forget_question(sight.head);
    } else if (!vip_questions_.contains(sight.head)) {
      ask_vips_of(sight.head);
    }
    if (sight.silent) {
      look_at_silent(sight);
    } else {
      left_members_.erase(sight.head);
      last_answers_.forget(sight.head);
      if (note_silence(sight.head, std::nullopt))
        parts_.events.tell(event::kHeadHeard, fmt::format("head {}: is heard again", sight.head));
    }
  }
}

bool HeadWatcher::clocks_agree() const {
  const auto seen = clocks();
  const auto is_off = [](std::int64_t ahead_ns) { return std::abs(ahead_ns) > kClockOffNs; };
  return seen && !is_off(seen->own_ahead_ns) &&
         std::ranges::none_of(seen->ahead_ns, [&](const auto& one) { return is_off(one.second); });
}

std::optional<ha::ClockSpread::Sight> HeadWatcher::clocks() const {
  return parts_.prober == nullptr ? std::nullopt : parts_.prober->clocks();
}

std::map<std::string, std::string> HeadWatcher::silent() const {
  const MutexLock lock(mutex_);
  return silent_told_;
}

std::map<std::string, std::int64_t> HeadWatcher::last_heard_ns() const {
  std::map<std::string, std::int64_t> out;
  if (parts_.prober == nullptr) return out;
  for (const ha::PeerSight& sight : sights()) {
    if (sight.silent) out[sight.head] = head_.clock.wall_ns() - sight.silent_ms * 1'000'000;
  }
  return out;
}

bool HeadWatcher::is_left_to_decider(const std::string& head,
                                     const std::string& incarnation) const {
  const MutexLock lock(mutex_);
  const auto found = left_to_decider_.find(head);
  return found != left_to_decider_.end() && found->second == incarnation;
}

std::string HeadWatcher::left_to_decider(const ClusterView& view, const ha::PeerSight& sight) {
  const std::string unable = why_unable(view);
  {
    const MutexLock lock(mutex_);
    left_to_decider_[sight.head] = sight.incarnation;
  }
  return fmt::format("{} decides whether it is fenced{}{}", name_of(view.cluster.record.decider()),
                     unable.empty() ? "" : ", and this head cannot do that: ", unable);
}

std::string HeadWatcher::not_left(const std::string& head, std::string why) {
  const MutexLock lock(mutex_);
  left_to_decider_.erase(head);
  return why;
}

std::string HeadWatcher::why_unable(const ClusterView& view) const {
  if (std::string why = parts_.fences.why_no_failover(); !why.empty()) return why;
  const Status able = parts_.fences.check_can_fence(view);
  return able ? "" : able.error().message;
}

// What is heard of the others. A boot that was not heard for long enough to be missed is missed all
// the same when corosync has had it and lost it meanwhile: it was up.
std::shared_ptr<const Neighbours> HeadWatcher::neighbours() const {
  const MutexLock lock(mutex_);
  return neighbours_;
}

std::vector<ha::PeerSight> HeadWatcher::sights() const {
  std::vector<ha::PeerSight> out = parts_.prober->sights();
  const auto known = neighbours();
  const bool is_decided_elsewhere = known != nullptr && known->is_decided_elsewhere;
  for (ha::PeerSight& sight : out) {
    if (!sight.silent && sight.silent_ms >= ha::kSilentMs) sight.silent = corosync_.has_lost(sight);
    if (is_decided_elsewhere && sight.silent_ms >= kUnheardDecidedMs) sight.silent = true;
  }
  return out;
}

// The question may take as long as a VIP may take to answer, so it begins before the head is
// missed.
void HeadWatcher::ask_vips_of(const std::string& head) {
  std::vector<Cidr> vips;
  if (const auto known = neighbours()) {
    const auto found = known->vips_by_head.find(head);
    if (found != known->vips_by_head.end()) vips = found->second;
  }
  ask_vips(head, probe::in_reach(vips));
}

void HeadWatcher::ask_vips(const std::string& head, std::vector<IpAddress> vips) {
  auto sign = std::async(std::launch::async, [vips] { return probe::any_sign(vips, kCanaryMs); });
  vip_questions_[head] = {head_.clock.mono_ns() / 1'000'000, std::move(vips), std::move(sign)};
}

void HeadWatcher::forget_question(const std::string& head) {
  std::erase_if(not_needed_, [](const std::future<probe::Sign>& sign) {
    return sign.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  const auto asked = vip_questions_.find(head);
  if (asked == vip_questions_.end()) return;
  // Destroying the future would wait for its end.
  if (asked->second.sign.valid()) not_needed_.push_back(std::move(asked->second.sign));
  vip_questions_.erase(asked);
}

// An answer is of use once, and not for long: what has been waited for since (the store) may have
// taken seconds in which the head came back. nullopt: they are being asked, and no other head is to
// wait for that.
std::optional<probe::Sign> HeadWatcher::sign_of_vips(const std::string& head,
                                                     const std::vector<IpAddress>& vips) {
  const auto asked = vip_questions_.find(head);
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  const bool fresh = asked != vip_questions_.end() && asked->second.vips == vips &&
                     asked->second.sign.valid() && now_ms - asked->second.asked_ms <= kAnswerAgeMs;
  if (!fresh) {
    forget_question(head);
    ask_vips(head, vips);
    return std::nullopt;
  }
  const bool ready =
      asked->second.sign.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  const bool soon = now_ms + kHeadLookMs >= asked->second.asked_ms + kCanaryMs;
  if (!ready && !soon) return std::nullopt;
  return asked->second.sign.get();
}

// Of heads that are in the cluster no more nothing is told.
void HeadWatcher::forget_removed(const std::vector<ha::PeerSight>& sights) {
  const auto is_gone = [&](const std::string& head) {
    return std::ranges::none_of(sights,
                                [&](const ha::PeerSight& sight) { return sight.head == head; });
  };
  const MutexLock lock(mutex_);
  std::erase_if(silent_told_, [&](const auto& told) { return is_gone(told.first); });
  std::erase_if(left_to_decider_, [&](const auto& left) { return is_gone(left.first); });
}

// `why`: why the silent head is not fenced; nullopt: it is heard. Returns whether that is news.
bool HeadWatcher::note_silence(const std::string& head, const std::optional<std::string>& why) {
  const MutexLock lock(mutex_);
  if (!why) {
    left_to_decider_.erase(head);
    return silent_told_.erase(head) != 0;
  }
  return std::exchange(silent_told_[head], *why) != *why;
}

// Leaves the member once for each silence: if only the head's agent is away, its member goes on and
// may be the only one.
void HeadWatcher::leave_member_of(const std::string& head) {
  if (!parts_.leave_member || !left_members_.insert(head).second) return;
  std::vector<IpAddress> addresses;
  if (const auto known = neighbours()) {
    const auto found = known->addresses_by_head.find(head);
    if (found != known->addresses_by_head.end()) addresses = found->second;
  }
  for (const IpAddress& address : addresses) parts_.leave_member(address.to_string());
}

void HeadWatcher::look_at_silent(const ha::PeerSight& seen) {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  std::int64_t& looked_ms = silent_looked_ms_[seen.head];
  if (looked_ms != 0 && now_ms - looked_ms < kSilentLookMs) return;
  looked_ms = now_ms;
  const auto view = read_view(head_.store, kStoreDeadlineMs);
  if (!view) {
    last_answers_.excuse(seen.head);
    return;
  }
  // The head may have been heard while the store was waited for.
  const std::vector<ha::PeerSight> sights = this->sights();
  const auto now = std::find_if(sights.begin(), sights.end(), [&](const ha::PeerSight& one) {
    return one.head == seen.head && one.incarnation == seen.incarnation;
  });
  if (now == sights.end() || !now->silent) return;
  const ha::PeerSight& sight = *now;
  const std::optional<std::string> why = why_not_fenced(*view, sight, sights);
  if (!why) {
    looked_ms = now_ms + kCanaryMs - kSilentLookMs;
    return;
  }
  const bool news = note_silence(sight.head, *why);
  if (!why->empty()) {
    if (!news) return;
    log::warn("head {}: not heard for {} ms: {}", sight.head, sight.silent_ms, *why);
    parts_.events.tell(event::kHeadSilent,
                       fmt::format("head {}: is not heard by others: {}", sight.head, *why));
    return;
  }
  const auto fence = view->fences.find(sight.head);
  const FenceCause cause{
      sight.incarnation,
      {fence == view->fences.end() ? Revision{} : fence->second.mod_revision, "", {}},
      head_.clock.wall_ns() - sight.silent_ms * 1'000'000,
      true};
  const bool begun = parts_.fences.start_fence(sight.head, cause);
  if (begun) {
    log::warn("head {}: not heard for {} ms, nor any of its VIPs{}: fencing", sight.head,
              sight.silent_ms, corosync_.says_of(sight.head));
  }
}

// "": it is to be fenced; nullopt: not known before its VIPs have had their time to answer.
std::optional<std::string> HeadWatcher::why_not_fenced(const ClusterView& view,
                                                       const ha::PeerSight& sight,
                                                       const std::vector<ha::PeerSight>& sights) {
  const auto victim = view.heads.find(sight.head);
  if (victim == view.heads.end() || victim->second.record.incarnation() != sight.incarnation) {
    return not_left(sight.head, "it has booted since");
  }
  if (is_fenced(view, sight.head, sight.incarnation))
    return not_left(sight.head, "it is fenced, or being fenced");
  const std::vector<Cidr> vips = vips_of(view, sight.head);
  if (vips.empty()) return not_left(sight.head, "it serves nothing, and nothing waits for it");
  const std::string unable = why_unable(view);
  if (!unable.empty() && !is_decided_elsewhere(view)) return unable;
  // A head that is cut off itself hears nobody. Of two heads, each may be right: etcd's quorum
  // decides which of them can write down a fence. Heads that have been off for long, and serve
  // nothing, say nothing either way.
  std::size_t members = 1;
  std::size_t heard = 1;
  for (const ha::PeerSight& other : sights) {
    const auto head = view.heads.find(other.head);
    if (head == view.heads.end() || head->second.record.incarnation() != other.incarnation ||
        is_fenced(view, other.head, other.incarnation)) {
      continue;
    }
    if (other.silent_ms < ha::kSilentMs) ++heard;
    if (other.silent_ms < kLongOffMs || owns_something(view, other.head)) ++members;
  }
  if (members > 2 && heard * 2 <= members) {
    return not_left(sight.head, fmt::format("this head hears {} of {} others only: it may be the "
                                            "one that is cut off",
                                            heard - 1, members - 1));
  }
  const std::vector<IpAddress> near = probe::in_reach(vips);
  if (near.empty()) {
    if (is_decided_elsewhere(view)) return left_to_decider(view, sight);
    if (corosync_.has_lost(sight)) return "";
    return "this head has no address in the networks of its VIPs, so it cannot ask whether they "
           "answer";
  }
  const auto sign = sign_of_vips(sight.head, near);
  if (!sign) return std::nullopt;
  if (last_answers_.asked(sight.head, *sign) == LastAnswers::Liveness::kDead)
    return is_decided_elsewhere(view) ? left_to_decider(view, sight) : "";
  ask_vips(sight.head, near);
  return not_left(sight.head, "but a VIP of it answers, or may only be late: its agent is away");
}

}  // namespace symnas::vnfsd::daemon
