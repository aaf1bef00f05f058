// Agent: heads that have gone. A head whose probes stay away on every network, and whose VIPs
// answer nobody, is fenced; what it served falls to its backups (docs/architecture/fencing.md).
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "ha/detection/probe.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/detection/limits.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/health/limits.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/probe/canary.h"

namespace symnas::vnfsd::daemon {
namespace {

std::vector<IpAddress> parsed(const records::HeadRecord& head) {
  std::vector<IpAddress> out;
  const auto add = [&](const std::string& text) {
    if (const auto address = IpAddress::parse(text)) out.push_back(*address);
  };
  add(head.address());
  for (const std::string& text : head.probe_addresses()) add(text);
  return out;
}

// VIPs of what the head serves, or is to serve: others wait for it.
std::vector<Cidr> vips_of(const ClusterView& view, const std::string& head) {
  std::vector<Cidr> out;
  for (const auto& [vnfs, place] : ha::plan(facts_of(view))) {
    const auto owner = view.owners.find(vnfs);
    const bool owned = owner != view.owners.end() && owner->second.record.head() == head;
    if (!owned && (place.head != head || owner != view.owners.end())) continue;
    for (const records::Vip& vip : view.vnfses.at(vnfs).record.vips()) {
      const auto address = IpAddress::parse(vip.address());
      if (address) out.push_back({*address, vip.prefix_length()});
    }
  }
  return out;
}

bool owns_something(const ClusterView& view, const std::string& head) {
  return std::any_of(view.owners.begin(), view.owners.end(),
                     [&](const auto& owner) { return owner.second.record.head() == head; });
}

bool is_fenced(const ClusterView& view, const std::string& head, const std::string& incarnation) {
  const auto fence = view.fences.find(head);
  return fence != view.fences.end() && forbids_claims(fence->second.record, incarnation);
}

}  // namespace

void Agent::tell_prober(const ClusterView& view) {
  if (links_.prober == nullptr) return;
  std::map<std::string, std::vector<Cidr>> vips;
  std::map<std::string, std::vector<IpAddress>> addresses;
  std::map<std::string, std::set<std::string>> ill;
  for (const auto& [name, head] : view.heads) {
    vips[name] = vips_of(view, name);
    ill[name] = {head.record.ill_networks().begin(), head.record.ill_networks().end()};
    if (name != config_.head_name) addresses[name] = parsed(head.record);
  }
  std::map<std::string, std::string> devices;
  for (const auto& [name, network] : view.networks) devices[name] = network.record.device();
  {
    const std::scoped_lock lock(mutex_);
    vips_by_head_ = std::move(vips);
    addresses_by_head_ = std::move(addresses);
    devices_by_network_ = std::move(devices);
    if (!std::exchange(networks_remembered_, true)) {
      for (const std::string& name : ill[config_.head_name])
        ill_networks_[name] = "it was reached badly before this vnfsd was started";
    }
    ill_there_ = std::move(ill);
  }
  std::map<std::string, probe::HeadSights::Peer> peers;
  for (const auto& [name, head] : view.heads) {
    if (name != config_.head_name) peers[name] = {head.record.incarnation(), parsed(head.record)};
  }
  links_.prober->set_peers(std::move(peers), view.cluster.record.probe_key());
}

// Errors: those of the store.
Status Agent::make_probe_key(const ClusterView& view) {
  if (!view.cluster.record.probe_key().empty()) return {};
  records::ClusterRecord cluster = view.cluster.record;
  cluster.set_probe_key(ha::make_probe_key());
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kCluster, view.cluster.mod_revision));
  txn.success.push_back(kv::put(kv::keys::kCluster, cluster.SerializeAsString()));
  SYMNAS_TRY(kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs));
  return {};  // if another head was faster, that is read next time
}

void Agent::watch_heads() {
  if (links_.prober == nullptr) return;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, std::chrono::milliseconds(kHeadLookMs), [&] { return ending_; });
    if (ending_) return;
    if (!ready_) continue;
    lock.unlock();
    const std::vector<ha::PeerSight> sights = links_.prober->sights();
    look_at_networks(sights);
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
          tell(event::kHeadHeard, fmt::format("head {}: is heard again", sight.head));
      }
    }
    lock.lock();
  }
}

void Agent::look_at_networks(const std::vector<ha::PeerSight>& sights) {
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  if (now_ms - networks_looked_ms_ < kTryMs) return;
  networks_looked_ms_ = now_ms;
  NetworkView view;
  std::set<std::string> remembered;
  {
    const std::scoped_lock lock(mutex_);
    if (!networks_remembered_) return;
    view.networks = devices_by_network_;
    view.peers = addresses_by_head_;
    view.ill_there = ill_there_;
    for (const auto& [name, why] : ill_networks_) remembered.insert(name);
  }
  if (!std::exchange(networks_looked_at_, true)) network_health_.remember(now_ms, remembered);
  view.devices = probe::devices();
  if (view.devices.empty()) return;  // the kernel did not say: there is always `lo`
  view.sights = sights;
  const std::map<std::string, std::string> before = network_health_.ill();
  if (!network_health_.look(now_ms, view)) return;
  for (const auto& [name, why] : network_health_.ill()) {
    if (!before.contains(name)) log::warn("network {}: {}", name, why);
  }
  for (const auto& [name, why] : before) {
    if (!network_health_.ill().contains(name)) log::info("network {}: is well again", name);
  }
  {
    const std::scoped_lock lock(mutex_);
    ill_networks_ = network_health_.ill();
    worse_networks_ = network_health_.worse();
  }
  look_again();
}

// Whoever asks waits for as long as a VIP may take, so it begins before the head is missed.
void Agent::ask_vips_of(const std::string& head) {
  std::vector<Cidr> vips;
  {
    const std::scoped_lock lock(mutex_);
    vips = vips_by_head_[head];
  }
  ask_vips(head, probe::in_reach(vips));
}

void Agent::ask_vips(const std::string& head, std::vector<IpAddress> vips) {
  auto sign = std::async(std::launch::async, [vips] { return probe::any_sign(vips, kCanaryMs); });
  vip_questions_[head] = {clock_.mono_ns() / 1'000'000, std::move(vips), std::move(sign)};
}

void Agent::forget_question(const std::string& head) {
  std::erase_if(not_needed_, [](const std::future<probe::Sign>& sign) {
    return sign.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  const auto asked = vip_questions_.find(head);
  if (asked == vip_questions_.end()) return;
  // Its end would be waited for where it is destroyed.
  if (asked->second.sign.valid()) not_needed_.push_back(std::move(asked->second.sign));
  vip_questions_.erase(asked);
}

std::set<std::string> Agent::heard_heads(const ClusterView& view) const {
  std::set<std::string> heard;
  if (links_.prober == nullptr) return heard;
  for (const ha::PeerSight& sight : links_.prober->sights()) {
    const auto head = view.heads.find(sight.head);
    const bool now = std::ranges::any_of(sight.paths_silent_ms, [](std::int64_t silent_ms) {
      return silent_ms >= 0 && silent_ms < ha::kSilentMs;
    });
    if (now && head != view.heads.end() && head->second.record.incarnation() == sight.incarnation)
      heard.insert(sight.head);
  }
  return heard;
}

// An answer is of use once, and not for long: what has been waited for since (the store) may have
// taken seconds in which the head came back. nullopt: they are being asked, and no other head is to
// wait for that.
std::optional<probe::Sign> Agent::sign_of_vips(const std::string& head,
                                               const std::vector<IpAddress>& vips) {
  const auto asked = vip_questions_.find(head);
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
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
void Agent::forget_removed(const std::vector<ha::PeerSight>& sights) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(silent_told_, [&](const auto& told) {
    return std::ranges::none_of(
        sights, [&](const ha::PeerSight& sight) { return sight.head == told.first; });
  });
}

// nullopt: it is heard. Answers whether that is news.
bool Agent::note_silence(const std::string& head, const std::optional<std::string>& why) {
  const std::scoped_lock lock(mutex_);
  if (!why) return silent_told_.erase(head) != 0;
  return std::exchange(silent_told_[head], *why) != *why;
}

// Once: if it is only its agent that is away, its member goes on and may be the only one.
void Agent::leave_member_of(const std::string& head) {
  if (!links_.leave_member || !left_members_.insert(head).second) return;
  std::vector<IpAddress> addresses;
  {
    const std::scoped_lock lock(mutex_);
    addresses = addresses_by_head_[head];
  }
  for (const IpAddress& address : addresses) links_.leave_member(address.to_string());
}

void Agent::look_at_silent(const ha::PeerSight& seen) {
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  std::int64_t& looked_ms = silent_looked_ms_[seen.head];
  if (looked_ms != 0 && now_ms - looked_ms < kSilentLookMs) return;
  looked_ms = now_ms;
  const auto view = read_view(store_, kStoreDeadlineMs);
  if (!view) {
    last_answers_.excuse(seen.head);
    return;
  }
  // It may have been heard while the store was waited for.
  const std::vector<ha::PeerSight> sights = links_.prober->sights();
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
    tell(event::kHeadSilent, fmt::format("head {}: is not heard by others: {}", sight.head, *why));
    return;
  }
  const auto fence = view->fences.find(sight.head);
  const FenceCause cause{sight.incarnation,
                         fence == view->fences.end() ? Revision{} : fence->second.mod_revision,
                         "",
                         {},
                         clock_.wall_ns() - sight.silent_ms * 1'000'000,
                         true};
  const bool begun = start_fence(sight.head, cause);
  if (begun) {
    log::warn("head {}: not heard for {} ms, and none of its VIPs answers: fencing", sight.head,
              sight.silent_ms);
  }
}

// "": it is to be fenced; nullopt: not known before its VIPs have had their time to answer.
std::optional<std::string> Agent::why_not_fenced(const ClusterView& view,
                                                 const ha::PeerSight& sight,
                                                 const std::vector<ha::PeerSight>& sights) {
  const auto victim = view.heads.find(sight.head);
  if (victim == view.heads.end() || victim->second.record.incarnation() != sight.incarnation) {
    return "it has booted since";
  }
  if (is_fenced(view, sight.head, sight.incarnation)) return "it is fenced, or being fenced";
  const std::vector<Cidr> vips = vips_of(view, sight.head);
  if (vips.empty()) return "it serves nothing, and nothing waits for it";
  if (std::string why = why_no_failover(); !why.empty()) return why;
  if (const Status able = check_can_fence(view); !able) return able.error().message;
  // Whoever is cut off itself hears nobody. Of two heads, each may be right: etcd's quorum decides
  // which of them can write down a fence. Heads that have been off for long, and serve nothing, say
  // nothing either way.
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
    return fmt::format("this head hears {} of {} others only: it may be the one that is cut off",
                       heard - 1, members - 1);
  }
  const std::vector<IpAddress> near = probe::in_reach(vips);
  if (near.empty()) {
    return "this head has no address in the networks of its VIPs, so it cannot ask whether they "
           "answer";
  }
  const auto sign = sign_of_vips(sight.head, near);
  if (!sign) return std::nullopt;
  if (last_answers_.asked(sight.head, *sign) == LastAnswers::Verdict::kDead) return "";
  ask_vips(sight.head, near);
  return "but a VIP of it answers, or may only be late: its agent is away";
}

}  // namespace symnas::vnfsd::daemon
